// A process for stream-sockets.test.ts: connects to its parent, says something, and ends as it is told. Arguments: where, and how.
import process from 'node:process';
import { StreamConnection } from '../../src/transport/stream/connection.ts';
import { socketTo } from '../kit/late-pair.ts';
import { SocketStream } from '../kit/socket-stream.ts';
import { portOver } from '../kit/stream-pair.ts';

const [address = '', how = '', count = '0', bytes = '0'] = process.argv.slice(2);
const socket = socketTo(/^\d+$/.test(address) ? Number(address) : address);
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
    if (how === 'close') connection.close({ drain: true });
    if (how === 'leave') {
      connection.leave({ text: 'enough' });
      port.postMessage('answer');
    }
  });
});
