// A unix socket as one would write it by hand for binary messages: a length, then the bytes; what gathers goes out in one write.
import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import type { Load } from '../loads.ts';
import { type Note, type ProcessSubject, type StreamHome, sendBy } from '../process-subject.ts';
import type { End } from '../subject.ts';
import { connectTo, serveSockets } from './socket-home.ts';

const HEADER = 4;
const GATHER_BYTES = 64 << 10;
/** Larger ones are written by themselves, without a copy. */
const COPIED_MAX = 16 << 10;

/** Cuts what arrives into messages. A message that lies in one piece is handed out as a view of it. */
class Deframer {
  readonly #onFrame: (bytes: Buffer) => void;
  #pieces: Buffer[] = [];
  #have = 0;
  /** Bytes of header and message that must be there to go on. */
  #need = HEADER;

  constructor(onFrame: (bytes: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  take(chunk: Buffer): void {
    this.#pieces.push(chunk);
    this.#have += chunk.length;
    if (this.#have < this.#need) return;
    const bytes = this.#pieces.length === 1 ? chunk : Buffer.concat(this.#pieces, this.#have);
    let from = 0;
    this.#need = HEADER;
    while (bytes.length - from >= HEADER) {
      const length = bytes.readUInt32LE(from);
      if (bytes.length - from < HEADER + length) {
        this.#need = HEADER + length;
        break;
      }
      this.#onFrame(bytes.subarray(from + HEADER, from + HEADER + length));
      from += HEADER + length;
    }
    this.#pieces = from < bytes.length ? [bytes.subarray(from)] : [];
    this.#have = bytes.length - from;
  }
}

/** Gathers messages up to 64 KiB, or to the end of the turn. */
class Framer {
  readonly #socket: Socket;
  #gathered: Buffer = Buffer.allocUnsafe(GATHER_BYTES);
  #length = 0;
  #planned = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** A promise when the socket has enough. */
  send(bytes: Uint8Array): Promise<unknown> | undefined {
    const total = HEADER + bytes.length;
    if (bytes.length > COPIED_MAX) {
      this.flush();
      const header = Buffer.allocUnsafe(HEADER);
      header.writeUInt32LE(bytes.length);
      this.#socket.write(header);
      this.#socket.write(bytes);
    } else {
      if (this.#length + total > GATHER_BYTES) this.flush();
      this.#gathered.writeUInt32LE(bytes.length, this.#length);
      this.#gathered.set(bytes, this.#length + HEADER);
      this.#length += total;
      if (!this.#planned) {
        this.#planned = true;
        process.nextTick(() => {
          this.#planned = false;
          this.flush();
        });
      }
    }
    if (!this.#socket.writableNeedDrain) return undefined;
    return new Promise((resolve) => this.#socket.once('drain', resolve));
  }

  flush(): void {
    if (this.#length === 0) return;
    this.#socket.write(this.#gathered.subarray(0, this.#length));
    // The socket keeps what it has been given until it is written.
    this.#gathered = Buffer.allocUnsafe(GATHER_BYTES);
    this.#length = 0;
  }
}

/** A request: its number, then the payload as UTF-8. */
function write({ id, payload }: Note): Buffer {
  const length = Buffer.byteLength(payload);
  const bytes = Buffer.allocUnsafe(4 + length);
  bytes.writeUInt32LE(id);
  bytes.write(payload, 4, length);
  return bytes;
}

function read(bytes: Buffer): Note {
  return { id: bytes.readUInt32LE(), payload: bytes.toString('utf8', 4) };
}

function sendingEnd(socket: Socket, load: Load): End {
  const framer = new Framer(socket);
  const post =
    load.spec.form === 'bytes'
      ? (value: unknown) => framer.send(value as Uint8Array)
      : (value: unknown) => framer.send(Buffer.from(JSON.stringify(value)));
  return { send: sendBy(post, () => framer.flush())!, close: () => {} };
}

function receivingEnd(socket: Socket, load: Load): End {
  let handler: ((value: unknown) => void) | null = null;
  const parse = load.spec.form === 'bytes' ? (bytes: Buffer) => bytes : (bytes: Buffer) => JSON.parse(bytes.toString());
  const frames = new Deframer((bytes) => handler?.(parse(bytes)));
  socket.on('data', (chunk: Buffer) => frames.take(chunk));
  return {
    listen: (next) => {
      handler = next;
    },
    close: () => void socket.destroy(),
  };
}

export const subjects: readonly ProcessSubject[] = [
  {
    name: 'unix-binary',
    label: 'unix socket, length and bytes',
    use: 'A length and the bytes; what one turn of the event loop sends goes out in writes of 64 KiB at the most, larger messages without a copy. Requests are a number and UTF-8, objects in streams are JSON.',
    serve: () =>
      serveSockets('unix', (socket) => {
        const framer = new Framer(socket);
        const frames = new Deframer((bytes) => void framer.send(write(read(bytes))));
        socket.on('data', (chunk: Buffer) => frames.take(chunk));
      }),
    join: async (address, _index, onAnswer) => {
      const socket = await connectTo(address);
      const framer = new Framer(socket);
      const frames = new Deframer((bytes) => onAnswer(read(bytes)));
      socket.on('data', (chunk: Buffer) => frames.take(chunk));
      return { send: (note) => void framer.send(write(note)), close: () => void socket.destroy() };
    },
    stream: {
      forms: ['bytes', 'object'],
      serve: async (load): Promise<StreamHome> => {
        let opened: (socket: Socket) => void = () => {};
        const socket = new Promise<Socket>((resolve) => {
          opened = resolve;
        });
        return { ...(await serveSockets('unix', opened)), end: async () => sendingEnd(await socket, load) };
      },
      join: async (address, load) => receivingEnd(await connectTo(address), load),
    },
  },
];
