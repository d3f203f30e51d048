// By what a connection goes that two processes make: memory where the addon is there, and the kind of connection has it.
import { native } from '../../src/native/load.ts';

export const overMemory: boolean = native().primitives !== undefined;

export function wayOf(kind: 'unix' | 'tcp' | 'pipe'): string {
  return overMemory && kind !== 'tcp' ? 'memory' : kind;
}
