// `#platform` leads here: the platform of the runtime that loads this module. Noticed at load, not by conditions of
// package.json, because not everybody who loads these files asks package.json: a bundle made for Node runs on Bun and
// Deno too, and Deno imports files by their address. The build for browsers has browser.ts in this one's place.
import process from 'node:process';
import { platform as bun } from './bun.ts';
import type { Platform } from './contract.ts';
import { platform as deno } from './deno.ts';
import { nodePlatform } from './node.ts';

const { versions } = process;
export const platform: Platform =
  versions['bun'] !== undefined ? bun : versions['deno'] !== undefined ? deno : nodePlatform;
