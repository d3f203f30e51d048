// A process whose connections say damaged things over real sockets (stream-damage.ts). It listens, or connects where it is told to, does with each
// connection what programs do, and says over its own pipe what has become of them, and whatever it met that is no error of ours.
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { MillraceError } from '../../src/index.ts';
import { connect, listen, type Port, parentPort } from '../../src/process/index.ts';
import { collect } from '../kit/collect.ts';

/** What a peer may have of this process at the most is little, so that it shows where a size that was said is believed. */
const LINK = { maxMessageBytes: 4096, capacityBytes: 1024, rememberedTextBytes: 4096, maxChannels: 100 };
const CHANNELS_TAKEN = 20;

export interface Report {
  /** Connections, by how they ended. */
  readonly ended: Readonly<Record<string, number>>;
  /** What was no error of ours. */
  readonly wrong: readonly string[];
  readonly descriptors: number;
  /** Bytes of this process's memory at the most. */
  readonly peakBytes: number;
  readonly heapBytes: number;
  /** Bytes that it asked for at once at the most. */
  readonly allocatedMost: number;
  readonly messages: number;
  readonly undecodable: number;
}

// What memory is asked for at once at the most, whatever becomes of it: by views and by buffers.
let allocatedMost = 0;
for (const name of ['Uint8Array', 'Int32Array', 'ArrayBuffer', 'Array'] as const) {
  const unit = { Uint8Array: 1, Int32Array: 4, ArrayBuffer: 1, Array: 8 }[name];
  const watched = {
    construct(target: never, args: readonly unknown[], as: never): object {
      if (typeof args[0] === 'number') allocatedMost = Math.max(allocatedMost, args[0] * unit);
      return Reflect.construct(target, args, as);
    },
  };
  globalThis[name] = new Proxy(globalThis[name] as never, watched);
}

const ended: Record<string, number> = {};
const wrong: string[] = [];
let messages = 0;
let undecodable = 0;

const ours = (error: unknown): boolean => {
  if (error instanceof MillraceError) return true;
  if (wrong.length < 10) wrong.push(String((error as Error)?.stack ?? error));
  return false;
};
process.on('uncaughtException', ours);
process.on('unhandledRejection', ours);

function attempt(body: () => unknown): void {
  try {
    body();
  } catch (error) {
    ours(error);
  }
}

function use(port: Port): void {
  port.onmessage = ({ data }) => {
    messages++;
    if (messages % 3 === 0) attempt(() => port.postMessage(data));
  };
  port.onmessageerror = ({ data }) => {
    undecodable++;
    ours(data);
  };
  attempt(() => port.postMessage({ hello: 'x'.repeat(messages % 900) }));
}

async function take(main: Port): Promise<void> {
  const { link } = main;
  if (link === undefined) throw new Error('a connection without a link');
  use(main);
  attempt(() => use(link.channel('other')));
  link.closed.then((reason) => {
    const { error } = link;
    // What it died of a peer says itself.
    const why = error instanceof MillraceError ? error.code : error === undefined ? '' : 'as it says';
    const how = `${reason} ${why}`.trim();
    ended[how] = (ended[how] ?? 0) + 1;
  });
  let taken = 0;
  for await (const { name } of link.channels) {
    if (taken++ < CHANNELS_TAKEN) attempt(() => use(link.channel(name)));
  }
}

function report(): Report {
  collect();
  const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return {
    ...{ ended, wrong, messages, undecodable, allocatedMost },
    descriptors: readdirSync('/proc/self/fd').length,
    peakBytes: Number(peak) * 1024,
    heapBytes: process.memoryUsage().heapUsed,
  };
}

const choice = { memory: false, link: LINK };
const server = await listen(process.argv[2] as string, choice);
const control = parentPort({ memory: false });
control.onmessage = ({ data }) => {
  if (data === 'report') control.postMessage(report());
  // Where it connects to, a peer may say anything, and so may this: errors of ours alone.
  else connect(data as string, choice).then(take, (error) => ours(error));
};
control.postMessage(server.address);
for await (const port of server) void take(port).catch(ours);
