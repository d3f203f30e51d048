// Memory and idle cost (G3): flat over millions of messages, and what a thousand idle ports take. The numbers are printed.
// asked for: node-22, node-26
// watchdog: 600 s
import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { attach, channel, type Port } from '../../src/index.ts';
import { soak } from '../kit/prng.ts';
import { startThread } from '../kit/thread.ts';
import { STEP_MS, until, within } from '../kit/watchdog.ts';
import { runtimeKind } from '../runtimes/program.ts';

const MEGABYTE = 1024 * 1024;
/** Ten million on one runtime and in the long run; a tenth elsewhere, for CI's sake. */
const full = soak || (runtimeKind === 'node' && process.versions.node.startsWith('24.'));
const MESSAGES = full ? 10_000_000 : 1_000_000;
/** A leak of all messages would be a gigabyte (a hundred megabytes for a tenth); heaps may breathe by this much. */
const GROWTH_MAX = 80 * MEGABYTE;

const rss = (): number => process.memoryUsage().rss;
const megabytes = (bytes: number): string => `${(bytes / MEGABYTE).toFixed(1)} MiB`;

test(`memory stays flat over ${MESSAGES.toLocaleString('en')} messages of every size`, async () => {
  const { port, remote } = channel({ capacityBytes: 64 * 1024 });
  const thread = startThread(
    (stage) => {
      const port = stage.port();
      const large = 'l'.repeat(200_000);
      let sent = 0;
      while (sent < stage.data) {
        port.cork(() => {
          for (let i = 0; i < 200 && sent < stage.data; i++, sent++) {
            if (sent % 20_000 === 0) port.send(`${large}${sent}`);
            else if (sent % 5_000 === 0) {
              const buffer = new ArrayBuffer(1000);
              while (!port.trySend(buffer, [buffer])) stage.pause(1);
            } else port.send({ sent, text: 'a message of usual size', list: [1, 2, 3] });
          }
        });
      }
    },
    { data: MESSAGES, remote },
  );
  const samples: number[] = [];
  const every = MESSAGES / 20;
  const start = performance.now();
  for (let i = 0; i < MESSAGES; i++) {
    const value = port.receive({ timeoutMs: STEP_MS }) as { sent: number } | string | ArrayBuffer;
    if (i % 20_000 === 0) assert.equal((value as string).length, 200_000 + String(i).length);
    else if (i % 5_000 === 0) assert.equal((value as ArrayBuffer).byteLength, 1000);
    else if ((value as { sent: number }).sent !== i) assert.fail(`message ${i} is ${JSON.stringify(value)}`);
    if ((i + 1) % every === 0) samples.push(rss());
  }
  const seconds = (performance.now() - start) / 1000;
  await thread.done();
  port.close();
  // The first fifth warms up: heaps and scratch memory find their size.
  const [warm, most] = [samples[3] as number, Math.max(...samples.slice(4))];
  console.log(`${MESSAGES.toLocaleString('en')} messages in ${seconds.toFixed(1)} s`);
  console.log(`resident memory at each twentieth: ${samples.map((it) => megabytes(it)).join(', ')}`);
  assert.ok(most - warm < GROWTH_MAX, `grew from ${megabytes(warm)} to ${megabytes(most)}`);
});

/** What this process takes of one core during a second. For the record: the test goes by counts, not by time. */
async function coreShare(): Promise<number> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const used = process.cpuUsage(cpu);
  return (used.user + used.system) / 1000 / (performance.now() - start);
}

/** Turns of the event loop without a stir, after which everything that was on its way has arrived. */
const QUIET_TURNS = 20;

test('a thousand idle ports: memory per port, and nobody stirs while all are parked', async () => {
  const COUNT = 500;
  const before = rss();
  const ports: Port[] = [];
  for (let i = 0; i < COUNT; i++) {
    const { port, remote } = channel();
    ports.push(port, attach(remote));
  }
  for (const port of ports) port.on('message', () => {});
  const parks = (): number[] => ports.map((port) => port.stats().parks);
  await until('every port is parked', () => parks().every((count) => count > 0));
  // Each maker has been told that its other end is open, which wakes it once.
  let quiet = 0;
  let sum = 0;
  await until('the makers were told', () => {
    const now = parks().reduce((total, count) => total + count, 0);
    quiet = now === sum ? quiet + 1 : 0;
    sum = now;
    return quiet === QUIET_TURNS;
  });
  const perPort = (rss() - before) / ports.length;
  const parked = parks();
  const idle = await coreShare();
  // A thread that is blocked in receive() looks after its peer's life now and then.
  const blocked = channel();
  const thread = startThread(
    (stage) => {
      const port = stage.port();
      stage.gates.open(0);
      while (port.receive() !== 'end');
    },
    { remote: blocked.remote },
  );
  await thread.gates.passAsync(0);
  const withBlocked = await coreShare();
  const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;
  console.log(
    `${ports.length} idle ports: ${(perPort / 1024).toFixed(1)} KiB each; while all are parked ${percent(idle)} of a core, with one more in a blocked receive() ${percent(withBlocked)}`,
  );
  assert.ok(perPort < 128 * 1024, `${perPort} bytes a port`);
  assert.deepEqual(parks(), parked, 'a port that nobody wrote to woke up and went back to sleep');
  // They are parked, not deaf.
  const heard = new Promise((resolve) => (ports[1] as Port).once('message', resolve));
  (ports[0] as Port).postMessage('still there');
  assert.equal(await within('a parked port to hear', heard), 'still there');
  // Only a reader that sleeps is rung.
  await until('a message has met the blocked reader asleep', () => {
    blocked.port.postMessage('still there');
    return blocked.port.stats().wakes > 0;
  });
  blocked.port.postMessage('end');
  await thread.done();
  blocked.port.close();
  for (const port of ports) port.close();
});
