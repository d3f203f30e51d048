import type { Platform } from './contract.ts';
import { nodePlatform } from './node.ts';

export const platform: Platform = {
  ...nodePlatform,
  name: 'bun',
  asyncPark: 'wait-async',
  canProbe: false,
  probeGone: () => false,
};
