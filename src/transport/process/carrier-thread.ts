// The carrier of sockets on this machine: it moves bytes and knows nothing of what they mean; all it has of the protocol is addresses.
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CARRIER_ACCEPTED_MAX } from '../../limits.ts';
import { type Bound, bind } from './bind.ts';
import { carry, lines, serve, tell as tellAny } from './carrier-service.ts';
import type { Ask, News } from './carrier-words.ts';
import { dial } from './dial.ts';
import { ofDescriptor, SocketStream } from './socket-stream.ts';

/** Who has connected and was not taken yet. */
const accepted = new Map<number, SocketStream>();
const listeners = new Map<number, Bound>();
/** Other ends that a child is to have. */
const paired = new Map<number, () => void>();
/** What gives up a connection that is not there yet. */
const dialling = new Map<number, AbortController>();
let numbers = 0;

const tell = (news: News): void => tellAny(news);

async function dialTo({ of, memory, address }: Extract<Ask, { ask: 'connect' }>): Promise<void> {
  const giveUp = new AbortController();
  dialling.set(of, giveUp);
  try {
    const stream = await dial(address, giveUp.signal);
    carry(of, memory, stream);
    tell({ of, news: 'there' });
  } finally {
    dialling.delete(of);
  }
}

async function listenAt({ of, address }: Extract<Ask, { ask: 'listen' }>): Promise<void> {
  const bound = await bind(address, (socket) => {
    const stream = new SocketStream(socket);
    // The thread blocks, or does not look: who comes now finds nobody.
    if (accepted.size >= CARRIER_ACCEPTED_MAX) {
      stream.destroy();
      return;
    }
    const line = --numbers;
    accepted.set(line, stream);
    tell({ of, news: 'accepted', line });
  });
  listeners.set(of, bound);
  tell({ of, news: 'there', address: bound.address });
}

/** By a name in a folder that is this user's alone, and that is gone before anybody is told. */
async function makePair({ of, memory }: Extract<Ask, { ask: 'pair' }>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), '.m'));
  const path = join(folder, 's');
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  let theirs: Socket | undefined;
  let ours: Socket | undefined;
  try {
    theirs = await new Promise<Socket>((resolve, reject) => {
      server.once('connection', resolve).once('error', reject);
      server.listen(path, () => {
        ours = connect({ path, allowHalfOpen: true });
        ours.once('error', reject);
      });
    });
    const { fd } = (theirs as unknown as { _handle?: { fd?: number } })._handle ?? {};
    if (fd === undefined || fd < 0) throw new Error('this runtime does not tell the descriptor of a socket');
    const [mine, other] = [ours as Socket, theirs];
    mine.pause();
    paired.set(of, () => {
      other.destroy();
      // Not before: what goes out is the child's, and nobody here may read it.
      carry(of, memory, new SocketStream(mine));
    });
    tell({ of, news: 'there', fd });
  } catch (error) {
    ours?.destroy();
    theirs?.destroy();
    throw error;
  } finally {
    closeServer(server);
    rmSync(folder, { recursive: true, force: true });
  }
}
function closeServer(server: Server): void {
  server.close();
}

async function answer(ask: Ask): Promise<void> {
  const { of } = ask;
  switch (ask.ask) {
    case 'connect':
      return dialTo(ask);
    case 'listen':
      return listenAt(ask);
    case 'pair':
      return makePair(ask);
    case 'open':
      carry(of, ask.memory, ofDescriptor(ask.fd));
      return;
    case 'paired':
      paired.get(of)?.();
      paired.delete(of);
      return;
    case 'unlisten':
      listeners.get(of)?.close();
      listeners.delete(of);
      tell({ of, news: 'unlistened' });
      return;
    case 'take': {
      const stream = accepted.get(of);
      accepted.delete(of);
      if (stream !== undefined) carry(of, ask.memory, stream);
      return;
    }
    default:
      dialling.get(of)?.abort(new Error('given up'));
      lines.get(of)?.destroy();
  }
}

serve(
  (ask) => answer(ask as Ask),
  () => {
    for (const stream of accepted.values()) stream.destroy();
    for (const bound of listeners.values()) bound.close();
  },
);
