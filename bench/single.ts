// Sender and receiver in one thread, taking turns: no waiting, no scheduler, so that instructions can be counted.
// node single.js SUBJECT SPEC COUNT
import type { Worker } from 'node:worker_threads';
import { expected, type LoadSpec, makeLoad } from './loads.ts';
import type { End, Progress } from './subject.ts';
import { threadSubject } from './subjects/list.ts';

/** Messages before the other side has its turn: fits into every contender's buffer at every size counted here. */
const TURN = 16;

const [name, specText, countText] = process.argv.slice(-3) as [string, string, string];
const load = makeLoad(JSON.parse(specText) as LoadSpec);
const count = Number(countText);
const progress: Progress = new Int32Array(new SharedArrayBuffer(64));
const subject = await threadSubject(name);
const wait = subject.streamWait ?? 'block/block';
const connection = await subject.connect({ worker: undefined as unknown as Worker, wait, load, options: {} });
const near = connection.end;
const far = await subject.attach({ data: connection.data, wait, load, options: {} });

function send(end: End, from: number): void {
  if (end.send) end.send(load, TURN, progress, from);
  else for (let i = 0; i < TURN; i++) end.post!(load.items[(from + i) & load.mask]);
}

function receive(end: End): number {
  if (end.receive) return (end.receive(load, TURN, progress) as { sum: number }).sum;
  let sum = 0;
  for (let i = 0; i < TURN; i++) sum = (sum + load.weigh(end.read!())) | 0;
  return sum;
}

let sum = 0;
let sent = 0;
for (; sent < count; sent += TURN) {
  send(near, sent);
  sum = (sum + receive(far)) | 0;
}
if (sum !== expected(load, sent).sum) throw new Error(`the sums differ: ${sum} after ${sent} messages`);
process.exit(0);
