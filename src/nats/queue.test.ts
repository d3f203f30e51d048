// What a server that was killed counts as given out, though it is done: a JetStream whose consumer is older than its stream.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueueStats, Taken } from '../engine/queue.ts';
import type { NatsClient } from './driver.ts';
import { type JetStream, NatsQueue } from './queue.ts';

const SUBJECT = 'millrace.queue.jobs';

/**
 * One with `last` jobs that were all given out.
 * @param kept worked at
 * @param given done, and not known to be
 * @param done known to be done, and there all the same
 * @param floor may be far below all of them
 */
function server(
  last: number,
  kept: readonly number[],
  given: readonly number[],
  done: readonly number[] = [],
  floor = Math.min(...kept, ...given) - 1,
) {
  const messages = new Set([...kept, ...done]);
  const pending = new Set([...kept, ...given]);
  const said: string[] = [];
  const acknowledge = (subject: string): void => {
    const seq = Number(subject.split('.')[5]);
    said.push(subject);
    pending.delete(seq);
    messages.delete(seq);
  };
  const client = {
    publish: acknowledge,
    async request(subject: string) {
      acknowledge(subject);
    },
    addCloseListener() {},
  } as unknown as NatsClient;
  const state = (details: boolean) => {
    const first = Math.min(last + 1, ...messages);
    const deleted = Array.from({ length: last - first }, (_, i) => first + i).filter((seq) => !messages.has(seq));
    return {
      messages: messages.size,
      first_seq: first,
      num_deleted: deleted.length,
      ...(details && { deleted }),
    };
  };
  const manager = {
    streams: {
      async add() {},
      async info(name: string, options?: { deleted_details: boolean }) {
        if (name.endsWith('_x')) return { state: { messages: 0, first_seq: 1 } };
        return { state: state(options?.deleted_details === true) };
      },
    },
    consumers: {
      async add() {},
      async info() {
        return {
          num_pending: 0,
          num_ack_pending: pending.size,
          ack_floor: { stream_seq: pending.size === 0 ? last : floor },
          delivered: { consumer_seq: last + 3, stream_seq: last },
          config: { ack_wait: 1000 * 1_000_000 },
        };
      },
    },
  };
  const jetstream = { jetstream: () => ({}), jetstreamManager: async () => manager } as unknown as JetStream;
  const queue = NatsQueue.open(client, 'nats://here', SUBJECT, 1000, jetstream);
  return { queue, acknowledge, said };
}
/** Of the second look, for the first one may see what goes on. */
async function statsOf({ queue }: ReturnType<typeof server>): Promise<QueueStats> {
  const it = await queue;
  await it.stats();
  await new Promise((resolve) => setTimeout(resolve, 1001));
  return await it.stats();
}
const subjectOf = (seq: number): string => `$JS.ACK.millrace_dqueue_djobs.millrace.1.${seq}.0.0.0`;

test('jobs that are in the stream no more are no longer given out', async () => {
  const it = server(600, [], [72, 74, 600]);
  assert.deepEqual(await statsOf(it), { waiting: 0, running: 0, dead: 0 });
  assert.equal(it.said.length, 600 - 71);
  assert.ok(it.said.includes(subjectOf(74)));
});

test('a job that is worked at is given out, and is not acknowledged', async () => {
  const it = server(10, [5, 8], [], [], 4);
  assert.deepEqual(await statsOf(it), { waiting: 0, running: 2, dead: 0 });
  assert.deepEqual(it.said, [6, 7, 9].map(subjectOf));
});

test('while something goes on nothing is said', async () => {
  const it = server(9, [5, 8], [3, 4]);
  const queue = await it.queue;
  assert.equal((await queue.stats()).running, 2);
  it.acknowledge(subjectOf(5));
  it.said.length = 0;
  await new Promise((resolve) => setTimeout(resolve, 1001));
  assert.equal((await queue.stats()).running, 1);
  assert.deepEqual(it.said, []);
});

test('jobs that are known to be done, and that the server has again, hide none of those', async () => {
  const it = server(600, [], [379], [5, 45, 185, 599], 44);
  assert.deepEqual(await statsOf(it), { waiting: 0, running: 0, dead: 0 });
  assert.ok(![45, 185, 599].some((seq) => it.said.includes(subjectOf(seq))));
});

test('a dead letter whose job could not be acknowledged is one, and so is the job of a letter that is tried again', async () => {
  const [ids, put, lost] = [new Set<string>(), [] as string[], new Set(['jobs', 'dead'])];
  const message = (stream: string, subject: string, timestampNanos: bigint) => ({
    subject: `${SUBJECT}.${subject}`,
    data: new Uint8Array(1),
    info: { deliveryCount: 1, streamSequence: 7, timestampNanos },
    async ackAck() {
      // The line breaks the first time.
      if (lost.delete(stream)) throw new Error('the server is lost');
    },
  });
  let timestamp = 1n;
  const given = (name: string) =>
    name.endsWith('_x') ? message('dead', 'dead.5.0', timestamp) : message('jobs', 'now', timestamp);
  const client = {
    async publish(subject: string, _bytes: Uint8Array, { msgID = '' }: { msgID?: string } = {}) {
      const into = subject.split('.')[3] === 'dead' ? 'dead' : 'jobs';
      if (msgID === '' || !ids.has(`${into} ${msgID}`)) put.push(into);
      ids.add(`${into} ${msgID}`);
    },
    consumers: {
      get: async (name: string) => ({
        async fetch() {
          return (async function* () {
            yield given(name);
          })();
        },
      }),
    },
  };
  const manager = {
    streams: { async add() {}, info: async () => ({ state: { messages: 1, first_seq: 1 } }) },
    consumers: { async add() {}, info: async () => ({ config: { ack_wait: 1000 * 1_000_000 } }) },
  };
  const jetstream = { jetstream: () => client, jetstreamManager: async () => manager } as unknown as JetStream;
  const connection = { addCloseListener() {} } as unknown as NatsClient;
  const queue = await NatsQueue.open(connection, 'nats://here', SUBJECT, 1000, jetstream);
  const taken: Taken[] = [];
  const bury = async (): Promise<void> => {
    await queue.take(1, 1, (job) => void taken.push(job));
    await taken.pop()?.bury(5, 'Error: no');
  };
  await assert.rejects(bury(), /is lost/);
  await bury();
  assert.deepEqual(put, ['dead']);
  const retry = async (): Promise<void> => await (await queue.takeDead(1))[0]?.retry();
  await assert.rejects(retry(), /is lost/);
  await retry();
  assert.deepEqual(put, ['dead', 'jobs']);
  // Of a stream that was made anew: another one has its number.
  timestamp = 2n;
  await bury();
  await retry();
  assert.deepEqual(put, ['dead', 'jobs', 'dead', 'jobs']);
});
