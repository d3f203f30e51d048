// Damaged frames over real sockets, to a process that does what programs do (stream-damage-victim.ts): what is said is honest, but for what was changed
// in it. Each connection goes on until it is ended or has had its share, and several are there at a time.
import assert from 'node:assert/strict';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { STREAM_WINDOW_WIDE } from '../../src/limits.ts';
import { fork, type Port } from '../../src/process/index.ts';
import { FrameReader } from '../../src/transport/stream/frame-reader.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { Random } from '../kit/prng.ts';
import { chunk, type Frame, HELLO, openFrame, TERMS } from '../kit/stream-bench.ts';
import { within } from '../kit/watchdog.ts';
import { anyFrame, damaged } from './damaged-frames.ts';
import type { Report } from './stream-damage-victim.ts';

/** Damaged inputs of one connection at the most. */
const INPUTS = 12;
/** Connections at a time. */
const AT_ONCE = 8;
/** Between two looks at what the process has. */
const LOOK_EVERY = 1000;
/** Descriptors that sockets which are on their way out may still have. */
const SLACK = 2 * AT_ONCE + 10;
/** Bytes asked for at once: for what a socket is read to, what waits to be written, and a record as large as a channel's credit. Sizes that are claimed go up to 2^31. */
const ALLOCATED_MAX = STREAM_WINDOW_WIDE + 1024 * 1024;
/** What allocators keep of many connections; a size that was believed would be up to 2^31. */
const PEAK_GROWTH_MAX = 256 * 1024 * 1024;
/** Of what is left when garbage was collected. */
const HEAP_GROWTH_MAX = 32 * 1024 * 1024;
const VICTIM = inOneFile(new URL('./stream-damage-victim.js', import.meta.url));
/** Of a question that stands behind an input. */
const ASKED = 0x51;

export interface FoundOverStreams
  extends Pick<Report, 'ended' | 'messages' | 'undecodable' | 'peakBytes' | 'allocatedMost'> {
  readonly kind: 'unix' | 'tcp';
  readonly inputs: number;
  readonly connections: number;
}

/** @param inputs so many at the least, each of which the other side has read and has answered what stands behind it, or has ended its connection */
export async function damagedStreams(kind: 'unix' | 'tcp', seed: number, inputs: number): Promise<FoundOverStreams> {
  const path = (which: string): string => join(tmpdir(), `millrace-damaged-${process.pid}-${which}.sock`);
  const where = (which: string): string => (kind === 'tcp' ? 'tcp:127.0.0.1:0' : path(which));
  const { port, child } = fork(VICTIM, { memory: false, args: [where('there')], child: { stdio: 'inherit' } });
  const address = (await within('a process', port.receiveAsync())) as string;
  const callers = new Callers(kind === 'tcp' ? undefined : path('here'));
  await callers.listens;
  const report = async (): Promise<Report> => {
    port.postMessage('report');
    const found = (await within('the other connection', port.receiveAsync())) as Report;
    assert.deepEqual(found.wrong, []);
    return found;
  };
  let first: Report | undefined;
  let done = 0;
  let connections = 0;
  const work = async (): Promise<void> => {
    while (done < inputs) {
      const index = connections++;
      const random = new Random(seed, index);
      const dials = random.chance(0.5);
      const liar = new Liar(random, dials ? dialled(address) : await called(port, callers), dials);
      const had = await within(`the end of connection ${index}, SEED=${seed}`, liar.run());
      done += had;
      if (index % LOOK_EVERY !== LOOK_EVERY / 2) continue;
      const now = await report();
      first ??= now;
      const most = first.descriptors + SLACK;
      assert.ok(now.descriptors <= most, `${first.descriptors} descriptors are ${now.descriptors}`);
    }
  };
  try {
    first = await report();
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    const last = await report();
    const [peak, heap] = [last.peakBytes - first.peakBytes, last.heapBytes - first.heapBytes];
    assert.ok(last.allocatedMost <= ALLOCATED_MAX, `it has asked for ${last.allocatedMost} bytes at once`);
    assert.ok(peak < PEAK_GROWTH_MAX, `it had ${peak} bytes more at a time, with ${AT_ONCE} connections`);
    assert.ok(heap < HEAP_GROWTH_MAX, `it has kept ${heap} bytes`);
    assert.ok(last.messages > 0, `nothing has come through: ${JSON.stringify(last)}`);
    const { ended, messages, undecodable, peakBytes, allocatedMost } = last;
    return { kind, inputs: done, connections, ended, messages, undecodable, peakBytes, allocatedMost };
  } finally {
    callers.close();
    port.close();
    child.kill('SIGKILL');
  }
}

function dialled(address: string): Socket {
  if (!address.startsWith('tcp:')) return connect({ path: address.slice('unix:'.length) });
  const [, host, port] = address.split(':') as [string, string, string];
  return connect({ host, port: Number(port) });
}

/** Where the other process connects to. */
class Callers {
  readonly listens: Promise<void>;
  readonly #server: Server;
  readonly #sockets: Socket[] = [];
  readonly #takers: ((socket: Socket) => void)[] = [];

  constructor(path: string | undefined) {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      const taker = this.#takers.shift();
      if (taker === undefined) this.#sockets.push(socket);
      else taker(socket);
    });
    this.listens = new Promise((resolve) => {
      if (path === undefined) this.#server.listen(0, '127.0.0.1', resolve);
      else this.#server.listen(path, resolve);
    });
  }
  get address(): string {
    const at = this.#server.address();
    return typeof at === 'string' ? at : `tcp:127.0.0.1:${at?.port}`;
  }
  next(): Promise<Socket> {
    const socket = this.#sockets.shift();
    return socket !== undefined ? Promise.resolve(socket) : new Promise((resolve) => this.#takers.push(resolve));
  }
  close(): void {
    this.#server.close();
  }
}
function called(port: Port, callers: Callers): Promise<Socket> {
  port.postMessage(callers.address);
  return within('a call', callers.next());
}

/** One connection of which something is damaged. */
class Liar {
  readonly #random: Random;
  readonly #socket: Socket;
  readonly #closed: Promise<void>;
  /** Inputs behind which it has answered. */
  #answered = 0;
  /** The next channel of its own. */
  #own: number;
  #answer: () => void = () => {};
  /** Of channels that there may be. */
  readonly #numbers = [1];

  constructor(random: Random, socket: Socket, dials: boolean) {
    this.#own = dials ? 1 : 2;
    this.#random = random;
    this.#socket = socket;
    const reader = new FrameReader({
      control: (type, number, words) => {
        const [input, asked] = words;
        // Of two that open the channel without a name both have the initiator's.
        if (type === frames.OPEN && (!dials || words.length > frames.BODY_BYTES[frames.OPEN]! >>> 2)) {
          this.#numbers.push(number);
          socket.write(chunk([frames.ACCEPT, number, ...TERMS, 0, 0]));
        }
        if (type !== frames.PONG || asked !== ASKED) return;
        this.#answered = Math.max(this.#answered, (input as number) + 1);
        this.#answer();
      },
      dataBegins: () => {},
      data: () => {},
      dataEnds: () => {},
    });
    socket.on('data', (bytes: Uint8Array) => reader.feed(bytes));
    socket.on('error', () => {});
    this.#closed = new Promise((resolve) => {
      socket.once('end', resolve);
      socket.once('close', () => resolve());
    });
  }

  /** @returns how many inputs the other side has had */
  async run(): Promise<number> {
    const random = this.#random;
    let over = false;
    this.#closed.then(() => {
      over = true;
      this.#answer();
    });
    const first = random.chance(0.05) ? damaged(random, chunk([frames.HELLO, 0, ...HELLO])) : undefined;
    this.#socket.write(first ?? chunk([frames.HELLO, 0, ...HELLO]));
    if (this.#own === 1) this.#socket.write(chunk(this.#open('')));
    let sent = first === undefined ? 0 : 1;
    for (; sent < INPUTS && !over; sent++) {
      const honest = Array.from({ length: random.int(0, 2) }, () => chunk(this.#frame()));
      const bytes = Buffer.concat([
        ...honest,
        damaged(random, chunk(this.#frame())),
        chunk([frames.PING, 0, sent, ASKED]),
      ]);
      for (let at = 0; at < bytes.length; ) {
        const end = random.chance(0.8) ? bytes.length : at + random.skewed(bytes.length - at) + 1;
        this.#socket.write(bytes.subarray(at, end));
        at = end;
      }
      // What claims to be longer than it is has taken the question for its own, and those behind it, until it is whole or the line ends.
      if (random.chance(0.5)) await this.#answeredOr(() => over);
    }
    this.#socket.end();
    await this.#closed;
    this.#socket.destroy();
    return Math.min(sent, this.#answered + 1);
  }
  /** It answers, or ends the connection, or waits for more: which nobody can tell from here. */
  #answeredOr(over: () => boolean): Promise<void> {
    if (over()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#answer = resolve;
      setTimeout(resolve, 5);
    });
  }

  #open(name: string): Frame {
    const number = this.#own;
    this.#own += 2;
    this.#numbers.push(number);
    return openFrame(number, name);
  }
  #frame(): Frame {
    const name = (): string => this.#random.pick(['a', 'b', 'other']);
    return anyFrame(this.#random, this.#numbers, () => this.#open(name()));
  }
}
