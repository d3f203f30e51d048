// Stream sockets: JSON lines over a unix socket and over TCP, and the seed's hand-made text format ("opt").
import type { Socket } from 'node:net';
import type { Hub, Link, Note, ProcessSubject } from '../process-subject.ts';
import { connectTo, serveSockets } from './socket-home.ts';

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

function serve(kind: 'unix' | 'tcp', format: Format): () => Promise<Hub> {
  return () =>
    serveSockets(kind, (socket) => {
      const lines: LineSocket = new LineSocket(socket, format, (note) => lines.send(note));
    });
}

function join(format: Format): ProcessSubject['join'] {
  return async (address, _index, onAnswer): Promise<Link> => {
    const socket = await connectTo(address);
    const lines = new LineSocket(socket, format, onAnswer);
    return { send: (note) => lines.send(note), close: () => void socket.destroy() };
  };
}

/** Who wants channels that do not hold each other up has a socket for each. */
function joinMany(format: Format): Required<ProcessSubject>['joinMany'] {
  return async (address, count, onAnswer): Promise<Link> => {
    const sockets: Socket[] = [];
    while (sockets.length < count) sockets.push(await connectTo(address));
    const all = sockets.map((socket) => new LineSocket(socket, format, onAnswer));
    const close = (): void => {
      for (const socket of sockets) socket.destroy();
    };
    return { send: (note) => all[count >> 1]!.send(note), close };
  };
}

export const subjects: readonly ProcessSubject[] = [
  {
    name: 'unix-json',
    label: 'unix socket, JSON lines',
    use: 'A line of JSON per message, all messages of one turn of the event loop in one write.',
    serve: serve('unix', JSON_LINES),
    join: join(JSON_LINES),
    joinMany: joinMany(JSON_LINES),
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
