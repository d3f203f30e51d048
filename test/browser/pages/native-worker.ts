// A worker of native-ends.ts, dedicated or shared: attaches what it is posted without memory. It posts `up` once its port is ready, answers messages,
// says why its port has ended, and does what it is told.
import * as millrace from '../../../src/index.ts';

type Told = { readonly remote: unknown } | { readonly close: true } | { readonly ask: 'here' };
interface Line {
  postMessage(message: unknown): void;
}
const scope = globalThis as unknown as EventTarget & Line & { close(): void };

function hear(line: Line, told: Told): void {
  if ('close' in told) scope.close();
  else if ('remote' in told) void open(line, told.remote);
  else void hereOnly(line);
}
async function open(line: Line, remote: unknown): Promise<void> {
  const port = millrace.attach(remote);
  port.onmessage = ({ data }) => port.postMessage([data]);
  void port.closed.then((reason) => line.postMessage({ reason }));
  await port.ready;
  line.postMessage({ up: await namesHeld() });
}
/** Both ends in this thread. */
async function hereOnly(line: Line): Promise<void> {
  const { port, remote } = millrace.channel({ memory: false });
  const far = millrace.attach(remote);
  far.postMessage('there');
  await port.receiveAsync();
  port.postMessage('back');
  await far.receiveAsync();
  line.postMessage({ here: await namesHeld() });
}
async function namesHeld(): Promise<string[]> {
  const { held = [] } = await navigator.locks.query();
  return held.map(({ name = '' }) => name).filter((name) => name.startsWith('millrace/native/'));
}

if ('DedicatedWorkerGlobalScope' in globalThis) {
  scope.addEventListener('message', (event) => hear(scope, (event as MessageEvent<Told>).data));
} else {
  scope.addEventListener('connect', (event) => {
    const [line] = (event as MessageEvent).ports as unknown as [MessagePort];
    line.onmessage = ({ data }) => hear(line, data);
  });
}
