// A worker of policies.ts that is called.
import { parentPort } from '../../../src/index.ts';
import { expose } from '../../../src/rpc/index.ts';

const api = { add: (a: number, b: number): number => a + b };
export type Api = typeof api;
expose(api, parentPort());
