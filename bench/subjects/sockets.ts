// Stream sockets: JSON lines over a unix socket and over TCP, and the seed's hand-made text format ("opt").
import { rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import type { Hub, Link, Note, ProcessSubject } from '../process-subject.ts';

interface Format {
  write(note: Note): string;
  read(line: string): Note;
}

const JSON_LINES: Format = {
  write: (note) => `${JSON.stringify(note)}\n`,
  read: (line) => JSON.parse(line) as Note,
};

const CONCATENATED: Format = {
  write: (note) => `${note.id},${note.payload}\n`,
  read: (line) => {
    const comma = line.indexOf(',');
    return { id: Number(line.slice(0, comma)), payload: line.slice(comma + 1) };
  },
};

/** Sends what gathers in one turn of the event loop with one write: several streams share a system call. */
class LineSocket {
  readonly #socket: Socket;
  readonly #format: Format;
  #pending = '';

  constructor(socket: Socket, format: Format, onNote: (note: Note) => void) {
    this.#socket = socket;
    this.#format = format;
    socket.setEncoding('utf8');
    socket.on('error', () => {});
    let rest = '';
    socket.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) onNote(format.read(line));
    });
  }

  send(note: Note): void {
    if (this.#pending === '') {
      process.nextTick(() => {
        const text = this.#pending;
        this.#pending = '';
        this.#socket.write(text);
      });
    }
    this.#pending += this.#format.write(note);
  }
}

let socketCount = 0;

function unixPath(): string {
  const name = `millrace-bench-${process.pid}-${socketCount++}`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : joinPath(tmpdir(), `${name}.sock`);
}

function serve(kind: 'unix' | 'tcp', format: Format): () => Promise<Hub> {
  return async () => {
    const sockets = new Set<Socket>();
    const server: Server = createServer({ noDelay: true }, (socket) => {
      sockets.add(socket);
      const lines: LineSocket = new LineSocket(socket, format, (note) => lines.send(note));
    });
    const path = unixPath();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      if (kind === 'unix') server.listen(path, resolve);
      else server.listen(0, '127.0.0.1', resolve);
    });
    return {
      address: kind === 'unix' ? path : (server.address() as AddressInfo).port,
      close: () => {
        for (const socket of sockets) socket.destroy();
        server.close();
        if (kind === 'unix') rmSync(path, { force: true });
      },
    };
  };
}

function join(format: Format): ProcessSubject['join'] {
  return async (address, _index, onAnswer): Promise<Link> => {
    const socket = typeof address === 'string' ? connect(address) : connect(address as number, '127.0.0.1');
    socket.setNoDelay(true);
    await new Promise((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    const lines = new LineSocket(socket, format, onAnswer);
    return { send: (note) => lines.send(note), close: () => void socket.destroy() };
  };
}

export const subjects: readonly ProcessSubject[] = [
  {
    name: 'unix-json',
    label: 'unix socket, JSON lines',
    use: 'A line of JSON per message, all messages of one turn of the event loop in one write.',
    serve: serve('unix', JSON_LINES),
    join: join(JSON_LINES),
  },
  {
    name: 'unix-opt',
    label: 'unix socket, concatenated text (opt)',
    use: 'What seed 004 calls unix socket opt: "id,payload" and a line feed, concatenated and split by hand; likewise one write a turn.',
    serve: serve('unix', CONCATENATED),
    join: join(CONCATENATED),
  },
  {
    name: 'tcp-json',
    label: 'TCP, JSON lines',
    use: 'The same lines over 127.0.0.1 with TCP_NODELAY: waiting for more to send would only add its delay.',
    serve: serve('tcp', JSON_LINES),
    join: join(JSON_LINES),
  },
];
