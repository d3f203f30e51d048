import { listen, connect } from '../dist/src/net/index.js';
import { WebSocket, WebSocketServer } from 'ws';
const mode = process.argv[2], N = Number(process.argv[3] ?? 30000);
const note = { id: 1, from: 'sender', text: 'x'.repeat(500) };
let ask, onAnswer, end;
if (mode === 'ws') {
  const s = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  s.on('connection', (c) => c.on('message', (d) => c.send(JSON.stringify(JSON.parse(d)))));
  await new Promise((r) => s.on('listening', r));
  const c = new WebSocket(`ws://127.0.0.1:${s.address().port}/`, { perMessageDeflate: false });
  await new Promise((r) => c.on('open', r));
  c.on('message', (d) => onAnswer(JSON.parse(d)));
  ask = (v) => c.send(JSON.stringify(v));
} else {
  const server = await listen('ws://127.0.0.1:0/');
  (async () => { for await (const p of server) p.on('message', (n) => p.postMessage(n)); })();
  const port = await connect(server.address, { webSocket: (u) => new WebSocket(u, { perMessageDeflate: false }) });
  await port.ready;
  port.on('message', (n) => onAnswer(n));
  ask = (v) => port.postMessage(v);
}
async function run(n) {
  await new Promise((done) => { let k = 0; onAnswer = (v) => { if (++k === n) done(); else ask({ ...note, id: k }); }; ask(note); });
}
await run(5000);
for (let i = 0; i < 3; i++) {
  const c0 = process.cpuUsage(), t = performance.now();
  await run(N);
  const c = process.cpuUsage(c0);
  console.log(mode, ((performance.now() - t) * 1000 / N).toFixed(1), 'us/req; cpu', ((c.user + c.system) / N).toFixed(1), 'user', (c.user / N).toFixed(1));
}
process.exit(0);
