// Hostile bytes at the sockets of `millrace/net`, a listener's and those that a server of the program's own has given: what is said first, and each frame from there on,
// with something changed in it, while an honest connection beside them talks. Some 5,000 inputs; 100,000 to each of them under SOAK=1.
// asked for: node-22, node-26
// watchdog: 300 s
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net';
import process from 'node:process';
import { test } from 'node:test';
import { MillraceError, type Port } from '../../src/index.ts';
import { type Acceptor, acceptor, connect, type ListenOptions, listen } from '../../src/net/index.ts';
import { TOKEN } from '../../src/net/options.ts';
import { POSITION, POSITION_BYTES, RESUMES } from '../../src/transport/network/heard.ts';
import { packageOf } from '../../src/transport/network/ws-package.ts';
import { type FrameHandler, FrameReader } from '../../src/transport/stream/frame-reader.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import { fieldBytes } from '../../src/transport/stream/greeting.ts';
import { joined } from '../../src/transport/stream/joined.ts';
import { mutate } from '../codec/mutate.ts';
import { collect } from '../kit/collect.ts';
import { CuttingProxy, portIn } from '../kit/cutting-proxy.ts';
import { cases, Random, seed } from '../kit/prng.ts';
import { masked, Unmasked, upgraded, upgradeRequest } from '../kit/raw-web-socket.ts';
import { chunk, type Frame, HELLO, openFrame } from '../kit/stream-bench.ts';
import { turn, until, untilSo, within } from '../kit/watchdog.ts';
import { anyFrame, damaged } from '../stress/damaged-frames.ts';

const INPUTS = cases(1000, 100_000);
/** Of one line at the most. */
const INPUTS_A_LINE = 8;
const AT_ONCE = 8;
/** Of a question that stands behind an input. */
const ASKED = 0x51;
/** What a stranger may have of this process at the most is little, so that it shows where a size that was said is believed. */
const LINK = { maxMessageBytes: 4096, capacityBytes: 1024, rememberedTextBytes: 4096, maxChannels: 100 };
/** Sessions that strangers begin are soon over. */
const OPTIONS: ListenOptions = { link: LINK, resumeMs: 300, timeoutMs: 10_000, maxParkedSessions: 32 };
/** Of what is left when garbage was collected, and all times are over that a stranger has. */
const HEAP_GROWTH_MAX = 32 * 1024 * 1024;
/** What allocators keep of the strangers of some seconds; a size that was believed would be up to 2^31. */
const RESIDENT_GROWTH_MAX = 512 * 1024 * 1024;

/** What was no error of ours, and what nobody has caught. */
const wrong: string[] = [];
const ours = (error: unknown): void => {
  if (!(error instanceof MillraceError)) wrong.push(String((error as Error)?.stack ?? error));
};
const uncaught = (error: unknown): void => void wrong.push(`uncaught: ${(error as Error)?.stack ?? error}`);
process.on('uncaughtException', uncaught);
process.on('unhandledRejection', uncaught);

interface Victim {
  readonly address: string;
  readonly clients: Omit<Acceptor, 'accept'>;
  close(): Promise<void>;
}

async function listener(address: string, options: ListenOptions = {}): Promise<Victim> {
  const server = await listen(address, { ...OPTIONS, ...options });
  return { address: server.address, clients: server, close: () => server.close() };
}
/** Asked later who it is. */
const authorize: ListenOptions['authorize'] = async ({ token }) => token !== 'nobody';
async function accepting(server: Server, kind: string, clients: Acceptor): Promise<Victim> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const close = async (): Promise<void> => {
    await clients.close();
    await new Promise((resolve) => server.close(resolve));
  };
  return { address: kind === 'ws' ? `ws://127.0.0.1:${port}/path` : `tcp:127.0.0.1:${port}`, clients, close };
}
const VICTIMS: Readonly<Record<string, () => Promise<Victim>>> = {
  'a listener, tcp': () => listener('tcp:127.0.0.1:0'),
  'a listener, ws': () => listener('ws://127.0.0.1:0/path'),
  'a listener whose lines another thread has, tcp': () => listener('tcp:127.0.0.1:0', { blocking: true, authorize }),
  'an acceptor, tcp': () => {
    const clients = acceptor({ ...OPTIONS, authorize });
    const server = createServer((socket) => clients.accept(socket));
    return accepting(server, 'tcp', clients);
  },
  'an acceptor, ws': async () => {
    const clients = acceptor({ ...OPTIONS, authorize });
    const { WebSocketServer } = (await packageOf('test')) as unknown as {
      WebSocketServer: new (options: object) => { on(type: 'connection', told: Acceptor['accept']): void };
    };
    const server = createHttp();
    new WebSocketServer({ server }).on('connection', (socket, request) => clients.accept(socket, request));
    return accepting(server, 'ws', clients);
  },
};

for (const [name, open] of Object.entries(VICTIMS))
  test(`${name}: ${INPUTS} hostile inputs make typed errors alone, and nobody else notices (SEED=${seed})`, async (t) => {
    const victim = await open();
    const proxy = await CuttingProxy.to(portIn(victim.address));
    // Also where it fails: what is left open would hold this file, and show as a hang.
    t.after(() => Promise.all([victim.close(), proxy.close()]));
    const taken = victim.clients[Symbol.asyncIterator]().next();
    const far = await within('a connection', connect(proxy.inFrontOf(victim.address)));
    const near = (await within('a connection', taken)).value as Port;
    const taking = takeAll(victim.clients);
    const strangers = new Strangers(victim.address);
    // What is allocated once is no growth.
    await strangers.come(Math.min(INPUTS, 200));
    const before = await left(victim);
    let over = false;
    const [said] = await Promise.all([
      talk(far, near, () => over),
      strangers.come(INPUTS).finally(() => (over = true)),
    ]);
    assert.deepEqual(wrong, []);
    assert.ok(said > 0 && strangers.answered > 0, `${said} said, ${strangers.answered} lines answered`);
    assert.deepEqual([proxy.lines, far.link?.status], [1, 'open'], 'the honest one has had one line');
    const resident = process.memoryUsage().rss - before.residentBytes;
    assert.ok(resident < RESIDENT_GROWTH_MAX, `the process has grown by ${resident} bytes`);
    await untilSo('nothing of them to be left', async () => {
      const { descriptors, heapBytes } = await left(victim);
      return descriptors <= before.descriptors && heapBytes - before.heapBytes < HEAP_GROWTH_MAX;
    });
    await within('the end', Promise.all([far.link?.close(), victim.close()]));
    await within('nobody else to come', taking);
    await proxy.close();
    assert.deepEqual(wrong, []);
  });

/** Question and answer, until it is over: each in its turn. */
async function talk(far: Port, near: Port, over: () => boolean): Promise<number> {
  near.onmessage = ({ data }) => near.postMessage(data);
  let said = 0;
  for (; !over(); said++) {
    far.postMessage({ said, text: 'x'.repeat(said % 900) });
    assert.equal(((await within('an answer', far.receiveAsync())) as { said: number }).said, said);
    await turn();
  }
  return said;
}

/** What a program does with whoever comes. */
async function takeAll(clients: Victim['clients']): Promise<void> {
  let messages = 0;
  const use = (port: Port): void => {
    port.onmessage = ({ data }) => {
      if (++messages % 3 === 0) attempt(() => port.postMessage(data));
    };
    port.onmessageerror = ({ data }) => ours(data);
    attempt(() => port.postMessage({ hello: 'x'.repeat(messages % 900) }));
  };
  const take = async (main: Port): Promise<void> => {
    const { link } = main;
    use(main);
    attempt(() => void (link && use(link.channel('other'))));
    for await (const offer of link?.channels ?? []) attempt(() => use(offer.accept()));
  };
  for await (const port of clients) take(port).catch(ours);
}
function attempt(body: () => void): void {
  try {
    body();
  } catch (error) {
    ours(error);
  }
}

/** What there is when all strangers are gone, and their sessions over. */
async function left({ clients }: Victim): Promise<Record<'descriptors' | 'heapBytes' | 'residentBytes', number>> {
  await until('nobody but the honest one to be there', () => clients.connections === 1);
  collect();
  const { heapUsed, rss } = process.memoryUsage();
  const folder = '/proc/self/fd';
  return { descriptors: existsSync(folder) ? readdirSync(folder).length : 0, heapBytes: heapUsed, residentBytes: rss };
}

class Strangers {
  readonly #port: number;
  readonly #upgrades: boolean;
  /** SESSION of sessions that strangers have begun, the newest last. */
  readonly #sessions: number[][] = [];
  #lines = 0;
  /** Lines over which it has answered. */
  answered = 0;

  constructor(address: string) {
    this.#port = portIn(address);
    this.#upgrades = address.startsWith('ws:');
  }

  /** @param inputs so many at the least, each read by the other side, which has answered what stands behind it, or ended the line */
  async come(inputs: number): Promise<void> {
    let done = 0;
    const work = async (): Promise<void> => {
      while (done < inputs) {
        const index = this.#lines++;
        const random = new Random(seed, index);
        const line = random.chance(0.2) ? this.#nonsense(random) : this.#lie(random);
        const had = await within(`the end of line ${index}, SEED=${seed}`, line);
        done += had;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  async #dial(): Promise<{ socket: Socket; closed: Promise<void> }> {
    const socket = connectSocket(this.#port, '127.0.0.1');
    const closed = new Promise<void>((resolve) => {
      for (const type of ['end', 'close']) socket.once(type, () => resolve());
    });
    socket.on('error', () => {});
    await Promise.race([closed, new Promise((resolve) => socket.once('connect', resolve))]);
    return { socket, closed };
  }
  /** What is nothing at all, or no WebSocket. */
  async #nonsense(random: Random): Promise<number> {
    const { socket, closed } = await this.#dial();
    socket.resume();
    const request = Buffer.from(upgradeRequest('/path'));
    const hello = this.#hello(random);
    socket.write(
      mutate(random, ...((random.chance(0.5) ? [request, hello] : [hello, request]) as [Uint8Array, Uint8Array])),
    );
    socket.end();
    await closed;
    socket.destroy();
    return 1;
  }
  /** A line of which something is damaged. */
  async #lie(random: Random): Promise<number> {
    const { socket, closed } = await this.#dial();
    if (this.#upgrades) await upgraded(socket);
    /** All messages of the WebSocket are whole. */
    let whole = true;
    const say = (bytes: Uint8Array): void => {
      const message = this.#upgrades ? masked(bytes) : bytes;
      const breaks = this.#upgrades && random.chance(0.03);
      whole &&= !breaks;
      socket.write(breaks ? mutate(random, message, bytes) : message);
    };
    let answered = 0;
    const numbers = [1];
    const handler: FrameHandler = {
      control: (type, number, words) => {
        const [input, asked] = words as unknown as [number, number];
        if (type === frames.HELLO) this.#begun([...words.subarray(8, 12)]);
        else if (type === frames.OPEN) numbers.push(number);
        else if (type === frames.PONG && asked === ASKED) answered = Math.max(answered, input + 1);
      },
      dataBegins() {},
      data() {},
      dataEnds() {},
    };
    const reader = new FrameReader(handler, (type) =>
      type === POSITION ? [POSITION_BYTES, POSITION_BYTES] : undefined,
    );
    const hear = (bytes: Uint8Array): void => {
      try {
        reader.feed(bytes);
      } catch {
        // A session goes on anywhere, and what turns a WebSocket down is no frame: from here on nothing is made out.
        reader.stop();
      }
    };
    const unmasked = new Unmasked(hear);
    socket.on('data', (bytes: Uint8Array) => (this.#upgrades ? unmasked.feed(bytes) : hear(bytes)));
    let over = false;
    closed.then(() => {
      over = true;
    });

    const hello = this.#hello(random);
    const first = random.chance(0.2);
    say(first ? damaged(random, hello) : hello);
    let own = 1;
    const openOne = (): Frame => {
      const number = own;
      own += 2;
      numbers.push(number);
      return openFrame(number, number === 1 ? '' : random.pick(['a', 'b', 'other']));
    };
    // Who ends its side before it is known who it is hears nothing where the program's socket then ends the other one.
    if (!first && whole && random.chance(0.5))
      await Promise.race([closed, new Promise((resolve) => socket.once('data', resolve))]);
    if (random.chance(0.9)) say(chunk(openOne()));
    let sent = first ? 1 : 0;
    for (; sent < INPUTS_A_LINE && !over; sent++) {
      const frame = (): Uint8Array => chunk(this.#frame(random, numbers, openOne));
      const honest = Array.from({ length: random.int(0, 2) }, frame);
      const bytes = joined([...honest, damaged(random, frame()), chunk([frames.PING, 0, sent, ASKED])]);
      for (let at = 0; at < bytes.length; ) {
        const end = random.chance(0.8) ? bytes.length : at + random.skewed(bytes.length - at) + 1;
        say(bytes.subarray(at, end));
        at = end;
      }
      if (random.chance(0.5)) await turn();
    }
    // As it breaks, or as it ends. What has come before is read in any case where it ends.
    socket.end();
    await closed;
    socket.destroy();
    if (answered > 0) this.answered++;
    return Math.min(sent, answered + 1);
  }
  #begun(session: number[]): void {
    if (session.every((word) => word === 0)) return;
    this.#sessions.push(session);
    if (this.#sessions.length > AT_ONCE) this.#sessions.shift();
  }

  /** Begins something, or goes on with a session that it has begun, or that nobody has. */
  #hello(random: Random): Uint8Array {
    const words = [...HELLO];
    if (random.chance(0.6)) words[3] = RESUMES;
    if (random.chance(0.3)) {
      const session = this.#sessions.at(-1) ?? [1, 2, 3, 4];
      words.splice(8, 6, ...(random.chance(0.9) ? session : [1, 2, 3, 4]), random.skewed(4000), 0);
    }
    const token = new TextEncoder().encode(random.pick(['nobody', 'ada', 'x'.repeat(random.skewed(1000))]));
    const fields = random.chance(0.3) ? fieldBytes([{ kind: TOKEN, bytes: token }]) : new Uint8Array(0);
    return chunk([frames.HELLO, 0, ...words, ...new Int32Array(fields.slice().buffer)]);
  }
  #frame(random: Random, numbers: readonly number[], open: () => Frame): Frame {
    if (random.chance(0.1)) return [POSITION, 0, random.skewed(4000), 0];
    return anyFrame(random, numbers, open);
  }
}
