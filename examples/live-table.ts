// Step 6. A small table on this machine: round trips and one-way messages against native postMessage, in
// interleaved rounds. `npm run bench` is the real benchmark; this one is for the eyes.
import { Worker } from 'node:worker_threads';
import { type Port, spawn } from '../src/index.ts';
import { bar, heading, isProgram, say, table } from './screen.ts';

const ROUNDS = 7;
const TRIPS = 1_500;
const ONE_WAY = 10_000;
const REQUEST = {
  id: '8f14e45f',
  method: 'user.get',
  args: [42, true, 'en-US'],
  ts: 1732150000123,
  meta: { trace: 'a1b2c3d4', pri: 5 },
};

/** Each answers the time of one round in milliseconds. */
interface Subject {
  readonly name: string;
  roundTrips(): Promise<number>;
  oneWay(): Promise<number>;
}

function native(worker: Worker): Subject {
  const answer = (): Promise<unknown> => new Promise((resolve) => worker.once('message', resolve));
  return {
    name: 'native postMessage, event loops',
    async roundTrips() {
      const start = performance.now();
      await new Promise<void>((resolve) => {
        let left = TRIPS;
        const onMessage = (): void => {
          if (--left > 0) worker.postMessage(REQUEST);
          else {
            worker.off('message', onMessage);
            resolve();
          }
        };
        worker.on('message', onMessage);
        worker.postMessage(REQUEST);
      });
      return performance.now() - start;
    },
    async oneWay() {
      const start = performance.now();
      const answered = answer();
      for (let i = 1; i <= ONE_WAY; i++) worker.postMessage({ ...REQUEST, count: true, last: i === ONE_WAY });
      await answered;
      return performance.now() - start;
    },
  };
}

function ours(port: Port, blocking: boolean): Subject {
  return {
    name: blocking ? 'millrace, both ends block' : 'millrace, main on its event loop',
    async roundTrips() {
      const start = performance.now();
      if (blocking) {
        for (let i = 0; i < TRIPS; i++) {
          port.postMessage(REQUEST);
          port.receive();
        }
      } else {
        await new Promise<void>((resolve) => {
          let left = TRIPS;
          port.onmessage = () => {
            if (--left > 0) port.postMessage(REQUEST);
            else resolve();
          };
          port.postMessage(REQUEST);
        });
        port.onmessage = null;
      }
      return performance.now() - start;
    },
    async oneWay() {
      const start = performance.now();
      for (let i = 1; i <= ONE_WAY; i++) {
        const message = { ...REQUEST, count: true, last: i === ONE_WAY };
        if (blocking) port.send(message);
        else {
          port.postMessage(message);
          if (i % 64 === 0) await port.drained();
        }
      }
      await port.receiveAsync();
      return performance.now() - start;
    },
  };
}

export async function liveTable(): Promise<void> {
  heading('6  On this machine, now');
  const rival = new Worker(new URL('./workers/rival-echo.js', import.meta.url));
  const { port, worker } = spawn(new URL('./workers/live-echo.js', import.meta.url));
  const subjects = [native(rival), ours(port, false), ours(port, true)];
  const trips = subjects.map((): number[] => []);
  const singles = subjects.map((): number[] => []);
  for (let round = -1; round < ROUNDS; round++) {
    for (const [index, subject] of subjects.entries()) {
      const trip = ((await subject.roundTrips()) * 1000) / TRIPS;
      const rate = ONE_WAY / (await subject.oneWay());
      if (round < 0) continue; // warm-up
      trips[index]?.push(trip);
      singles[index]?.push(rate);
    }
    bar('measuring', (round + 2) / (ROUNDS + 1), `round ${round + 2} of ${ROUNDS + 1}`);
  }
  const middle = (list: number[]): number => [...list].sort((a, b) => a - b)[list.length >> 1] as number;
  const spread = (list: number[]): string => `${Math.min(...list).toFixed(1)}..${Math.max(...list).toFixed(1)}`;
  const rows = [['', 'round trip, µs', 'spread', 'ratio', 'one way, k/s', 'spread', 'ratio']];
  const base = { trip: middle(trips[0] as number[]), rate: middle(singles[0] as number[]) };
  for (const [index, { name }] of subjects.entries()) {
    const trip = trips[index] as number[];
    const rate = singles[index] as number[];
    rows.push([
      name,
      middle(trip).toFixed(1),
      spread(trip),
      `${(base.trip / middle(trip)).toFixed(1)}x`,
      middle(rate).toFixed(0),
      spread(rate),
      `${(middle(rate) / base.rate).toFixed(1)}x`,
    ]);
  }
  table(rows);
  say(
    `a request of 118 bytes as JSON, object in, object out; medians of ${ROUNDS} interleaved rounds; x: times better`,
  );
  port.close();
  await Promise.all([rival.terminate(), (worker as Worker).terminate()]);
}

if (isProgram(import.meta.url)) await liveTable();
