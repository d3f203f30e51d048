// What a server that was killed counts as given out, though it is done: a JetStream whose consumer is older than its stream.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NatsClient } from './driver.ts';
import { type JetStream, NatsQueue } from './queue.ts';

const SUBJECT = 'millrace.queue.jobs';

/**
 * One with `last` jobs that were all given out.
 * @param kept worked at
 * @param given done, and not known to be
 * @param done known to be done, and there all the same
 */
function server(last: number, kept: readonly number[], given: readonly number[], done: readonly number[] = []) {
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
          ack_floor: { stream_seq: pending.size === 0 ? last : Math.min(...pending) - 1 },
          delivered: { stream_seq: last },
          config: { ack_wait: 1000 * 1_000_000 },
        };
      },
    },
  };
  const jetstream = { jetstream: () => ({}), jetstreamManager: async () => manager } as unknown as JetStream;
  const queue = NatsQueue.open(client, 'nats://here', SUBJECT, 1000, jetstream);
  return { queue, acknowledge, said };
}
/** It looks once a second. */
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1001));
const subjectOf = (seq: number): string => `$JS.ACK.millrace_dqueue_djobs.millrace.1.${seq}.${seq}.0.0`;

test('jobs that are in the stream no more are no longer given out', async () => {
  const { queue, said } = server(600, [], [72, 74, 600]);
  const it = await queue;
  assert.deepEqual(await it.stats(), { waiting: 0, running: 0, dead: 0 });
  assert.equal(said.length, 600 - 71);
});

test('a job that is worked at is given out, and is not acknowledged', async () => {
  const { queue, said } = server(10, [5, 8], []);
  const it = await queue;
  assert.deepEqual(await it.stats(), { waiting: 0, running: 2, dead: 0 });
  assert.deepEqual(said, []);
});

test('those before, and between, jobs that are worked at', async () => {
  const { queue, acknowledge, said } = server(9, [5, 8], [3, 4, 6, 7]);
  const it = await queue;
  // Two can be seen to be none; of the others the server says that they are two at the most.
  assert.deepEqual(await it.stats(), { waiting: 0, running: 2, dead: 0 });
  assert.deepEqual(said, [3, 4].map(subjectOf));
  acknowledge(subjectOf(5));
  said.length = 0;
  await later();
  assert.deepEqual(await it.stats(), { waiting: 0, running: 1, dead: 0 });
  assert.deepEqual(said, [6, 7].map(subjectOf));
});

test('jobs that are known to be done, and that the server has again, hide none of those', async () => {
  const { queue, said } = server(600, [], [72, 300], [185, 600]);
  const it = await queue;
  assert.equal((await it.stats()).running, 1);
  await later();
  assert.equal((await it.stats()).running, 0);
  assert.ok(said.includes(subjectOf(72)) && said.includes(subjectOf(300)));
});
