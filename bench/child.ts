// A worker process of the scenarios between processes. Of requests it has C streams, each sends one and waits for its answer
// before the next; of a stream it is the end that receives.
// Orders come over the IPC channel; contenders that use that channel as well leave out what carries `ctl`.
import { type Broadcast, broadcasts, type Inlet } from './broadcasts.ts';
import { consume } from './drivers.ts';
import { digest, type Load, type LoadSpec, makeLoad, type Tally } from './loads.ts';
import { LAST, type Link, type Note } from './process-subject.ts';
import type { End } from './subject.ts';
import { processSubject } from './subjects/process-list.ts';
import { BURST, weigh } from './topic-load.ts';

export type ChildOrder =
  | { ctl: 'join'; subject: string; address: unknown; index: number; channels?: number }
  | { ctl: 'run'; ms: number; streams: number; payload: number }
  | { ctl: 'join-stream'; subject: string; address: unknown; spec: LoadSpec }
  | { ctl: 'receive'; count: number; deep: boolean }
  | { ctl: 'join-broadcast'; subject: string; address: unknown }
  | { ctl: 'rest'; restMs: number; trips: number; payload: number }
  | { ctl: 'first'; trips: number; payload: number }
  | { ctl: 'end' };

export type ChildReply =
  | { ctl: 'joined' | 'ready' | 'receiving' | 'asking' }
  | { ctl: 'done'; count: number; seconds: number; right: boolean; cpuUs: number }
  | { ctl: 'trips'; timesUs: number[]; right: boolean; cpuUs: number }
  | ({ ctl: 'received'; cpuUs: number } & Tally)
  | { ctl: 'burst'; sum: number; cpuUs: number }
  | { ctl: 'failed'; message: string };

let link: Link | undefined;
let onAnswer: (note: Note) => void = () => {};
let inlet: { readonly end: End; readonly load: Load } | undefined;

let reading: Inlet | undefined;

/** Reports of `consume`, which nobody reads: senders in other processes keep to back-pressure of their own. */
const UNREAD = new Int32Array(new SharedArrayBuffer(4));

process.on('message', (message: unknown) => {
  const order = message as ChildOrder;
  if (order?.ctl === undefined) return;
  obey(order).catch((error: unknown) => {
    tell({ ctl: 'failed', message: error instanceof Error ? error.message : String(error) });
  });
});
process.on('disconnect', () => process.exit(0));
tell({ ctl: 'ready' });

async function obey(order: ChildOrder): Promise<void> {
  if (order.ctl === 'join') {
    const subject = await processSubject(order.subject);
    const { address, index, channels } = order;
    const heard = (note: Note): void => onAnswer(note);
    link = await (channels === undefined
      ? subject.join(address, index, heard)
      : subject.joinMany!(address, channels, heard));
    tell({ ctl: 'joined' });
  } else if (order.ctl === 'run') tell(await (link!.ask ? ask(link as Required<Link>, order) : run(link!, order)));
  else if (order.ctl === 'join-stream') {
    const load = makeLoad(order.spec);
    inlet = { load, end: await (await processSubject(order.subject)).stream!.join(order.address, load) };
    tell({ ctl: 'joined' });
  } else if (order.ctl === 'join-broadcast') await joinBroadcast(order);
  else if (order.ctl === 'rest' || order.ctl === 'first') tell(await trips(link!, order));
  else if (order.ctl === 'receive') tell(await receive(inlet!, order));
  else {
    await link?.close();
    await inlet?.end.close();
    reading?.close();
    process.exit(0);
  }
}

/** Adds up what comes, and says so behind each burst. */
async function joinBroadcast({ subject, address }: ChildOrder & { ctl: 'join-broadcast' }): Promise<void> {
  const broadcast = broadcasts.find((each) => each.subject === subject) as Broadcast;
  let count = 0;
  let sum = 0;
  let before = process.cpuUsage();
  const heard = (value: unknown): void => {
    sum = (sum + weigh(value)) | 0;
    if (++count % BURST > 0) return;
    const used = process.cpuUsage(before);
    before = process.cpuUsage();
    tell({ ctl: 'burst', sum, cpuUs: used.user + used.system });
  };
  reading = await broadcast.join(address, heard);
  await told({ ctl: 'joined' });
  reading.block?.();
}

async function receive({ end, load }: { end: End; load: Load }, order: ChildOrder & { ctl: 'receive' }) {
  const before = process.cpuUsage();
  const read = order.deep ? { ...load, weigh: digest } : load;
  // An end that blocks would keep the word to itself.
  if (end.receive) await told({ ctl: 'receiving' });
  else tell({ ctl: 'receiving' });
  const tally = await consume(end, read, order.count, UNREAD);
  const used = process.cpuUsage(before);
  return { ctl: 'received', ...tally, cpuUs: used.user + used.system } as const;
}

function run(to: Link, { ms, streams, payload }: ChildOrder & { ctl: 'run' }): Promise<ChildReply> {
  const text = 'x'.repeat(payload);
  const before = process.cpuUsage();
  const start = performance.now();
  let count = 0;
  let open = streams;
  let right = true;
  return new Promise((resolve) => {
    onAnswer = (note) => {
      count++;
      right &&= note.payload.length === payload;
      const now = performance.now();
      if (now - start < ms) {
        to.send({ id: note.id + streams, payload: text });
        return;
      }
      // Each stream's ids go up by `streams`: the last one tells how many that stream must have made.
      if (--open > 0) return;
      const used = process.cpuUsage(before);
      resolve({ ctl: 'done', count, seconds: (now - start) / 1000, right, cpuUs: used.user + used.system });
    };
    for (let i = 0; i < streams; i++) to.send({ id: i, payload: text });
  });
}

/** One after the other, each timed by itself; with a rest before each. */
async function trips(to: Link, order: ChildOrder & { ctl: 'rest' | 'first' }): Promise<ChildReply> {
  const text = 'x'.repeat(order.payload);
  const before = process.cpuUsage();
  const timesUs: number[] = [];
  let right = true;
  for (let id = 0; id < order.trips; id++) {
    if (order.ctl === 'rest') await new Promise((resolve) => setTimeout(resolve, order.restMs));
    const start = performance.now();
    const answer = await new Promise<Note>((resolve) => {
      onAnswer = resolve;
      to.send({ id, payload: text });
    });
    timesUs.push((performance.now() - start) * 1000);
    right &&= answer.id === id && answer.payload.length === order.payload;
  }
  const used = process.cpuUsage(before);
  return { ctl: 'trips', timesUs, right, cpuUs: used.user + used.system };
}

/** One stream, and both threads stand still. */
async function ask(to: Pick<Required<Link>, 'ask'>, { ms, payload }: ChildOrder & { ctl: 'run' }): Promise<ChildReply> {
  const text = 'x'.repeat(payload);
  // Once this thread stands still nothing more would go out.
  await told({ ctl: 'asking' });
  const before = process.cpuUsage();
  const start = performance.now();
  let right = true;
  let count = 0;
  let seconds = 0;
  for (; seconds * 1000 < ms; seconds = (performance.now() - start) / 1000) {
    right &&= to.ask({ id: count++, payload: text }).payload.length === payload;
  }
  const used = process.cpuUsage(before);
  to.ask({ id: LAST, payload: '' });
  return { ctl: 'done', count, seconds, right, cpuUs: used.user + used.system };
}

function tell(reply: ChildReply): void {
  process.send!(reply);
}

function told(reply: ChildReply): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send!(reply, undefined, undefined, (error) => (error ? reject(error) : resolve()));
  });
}
