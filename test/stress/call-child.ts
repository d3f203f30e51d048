// A child process of call-kills.test.ts and of test/process/calls.test.ts (call-roles.ts).
import process from 'node:process';
import { parentPort } from '../../src/process/index.ts';
import { expose } from '../../src/rpc/index.ts';
import { Gates } from '../kit/gate.ts';
import { Victim } from './call-roles.ts';

const port = parentPort({ blocking: process.argv[2] === 'blocks' });
expose(new Victim(port, new Gates()), port);
