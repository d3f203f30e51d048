// A process for stream-sockets.test.ts: connects to its parent, says something, and ends as it is told. Arguments: where, and how.
import process from 'node:process';
import type { Port } from '../../src/index.ts';
import { StreamConnection } from '../../src/transport/stream/connection.ts';
import { endTogether } from '../../src/transport/stream/exits.ts';
import { socketTo } from '../kit/late-pair.ts';
import { SocketStream } from '../kit/socket-stream.ts';
import { portOver } from '../kit/stream-pair.ts';

const [address = '', how = '', count = '0', bytes = '0'] = process.argv.slice(2);
const to = /^\d+$/.test(address) ? Number(address) : address;

/** Two are told to go; the third, of the reader that has stopped, may be any. */
function exitOfThree(): void {
  const all: { connection: StreamConnection; port: Port }[] = [];
  let told = 0;
  for (let i = 0; i < 3; i++) {
    const socket = socketTo(to);
    socket.once('connect', () => {
      const stream = new SocketStream(socket);
      const connection = new StreamConnection(
        stream,
        { initiator: true, windowBytes: 2 ** 24 },
        { opened() {}, ended() {} },
      );
      stream.connect(connection);
      const port = portOver(connection, connection.open('x'), { outboxBytes: 2 ** 30 }) as Port;
      all.push({ connection, port });
      port.on('message', () => {
        if (++told < 2) return;
        const text = 'x'.repeat(Number(bytes));
        for (let n = 0; n < Number(count); n++) for (const each of all) each.port.postMessage([n, text]);
        // With more time than an exit has, for a machine that is busy.
        const connections = all.map((each) => each.connection);
        endTogether(connections, 'exit', { code: 7, untilMs: performance.now() + 2000 });
        process.exit(7);
      });
    });
  }
}
if (how === 'exit-of-three') exitOfThree();
else one();

function one(): void {
  const socket = socketTo(to);
  socket.once('connect', () => {
    const stream = new SocketStream(socket, 30_000);
    const connection = new StreamConnection(
      stream,
      { initiator: true, windowBytes: 2 ** 24, crashTold: 'stack' },
      { opened() {}, ended() {} },
    );
    stream.connect(connection);
    const port = portOver(connection, connection.open('x'), { outboxBytes: 2 ** 30 });
    port.on('message', (word: unknown) => {
      if (word !== 'go') return;
      const text = 'x'.repeat(Number(bytes));
      for (let i = 0; i < Number(count); i++) port.postMessage([i, text]);
      if (how === 'exit') process.exit(7);
      if (how === 'throw') throw Object.assign(new RangeError('what it died of'), { code: 'ERR_OWN' });
      if (how === 'kill') process.kill(process.pid, 'SIGKILL');
      if (how === 'return') {
        port.close();
        port.unref();
      }
      if (how === 'close') connection.close({ drain: true });
      if (how === 'leave') {
        connection.leave({ text: 'enough' });
        port.postMessage('answer');
      }
    });
  });
}
