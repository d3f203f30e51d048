// A queue on NATS: a stream of JetStream, on file, of which each job goes once it is done, and one consumer that all workers share; another stream has the dead
// letters. A job for later stands under a subject of its own, which names the delay, and whoever is given it too soon gives it back until then.

import { bytesOfHex, hexOf } from '../engine/hex.ts';
import { packageOf, plainCause, refusedBy } from '../engine/package-of.ts';
import { checkAckMs, type QueueStats, type QueueStore, type Taken, type TakenDead } from '../engine/queue.ts';
import { UnsupportedError, UsageError } from '../errors.ts';
import { ENGINE_REQUEST_MS, QUEUE_ID_MS } from '../limits.ts';
import type { NatsClient } from './driver.ts';

/** The members of @nats-io/jetstream that are used. */
export interface JetStream {
  jetstream(client: NatsClient, options: { timeout: number }): Client;
  jetstreamManager(client: NatsClient, options: { timeout: number }): Promise<Manager>;
}
interface Manager {
  streams: {
    add(options: object): Promise<unknown>;
    info(name: string, options?: { deleted_details: boolean }): Promise<{ state: StreamState }>;
  };
  consumers: {
    add(stream: string, options: object): Promise<unknown>;
    info(stream: string, name: string): Promise<ConsumerState>;
  };
}
interface StreamState {
  readonly messages: number;
  readonly first_seq: number;
  /** Of those behind the first, such as are there no more. */
  readonly num_deleted?: number;
  readonly deleted?: readonly number[];
}
interface ConsumerState {
  readonly num_pending: number;
  readonly num_ack_pending: number;
  /** All up to here are done. */
  readonly ack_floor: { readonly stream_seq: number };
  readonly delivered: { readonly consumer_seq: number; readonly stream_seq: number };
  readonly config: { readonly ack_wait?: number };
}
interface Client {
  publish(subject: string, bytes: Uint8Array, options?: object): Promise<unknown>;
  readonly consumers: { get(stream: string, name: string): Promise<Consumer> };
}
interface Consumer {
  fetch(options: { max_messages: number; expires: number }): Promise<AsyncIterable<Message>>;
}
interface Message {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly info: {
    readonly deliveryCount: number;
    readonly streamSequence: number;
    readonly timestampNanos: number | bigint;
  };
  ackAck(): Promise<boolean>;
  nak(delayMs?: number): void;
  working(): void;
}

const CONSUMER = 'millrace';
/** What is asked of it has times of ours, which are no longer. */
const TIMES = { timeout: 2 * ENGINE_REQUEST_MS };
const GONE_MS = 1000;
/** Jobs that are looked at in one go, and of which the server is asked for a list. */
const GONE_MOST = 10_000;
const ACK: Uint8Array = new TextEncoder().encode('+ACK');
const STREAM_NAME_MAX = 255;
const NANOS = 1_000_000;
/** The least time for which JetStream lets somebody wait. */
const EXPIRES_MS = 1000;

/** Of what a dead letter's last try said, in hexadecimal digits of a subject: a server takes 4 KiB of one line. */
const WHY_BYTES = 500;

/** Names of streams have no dots. */
function streamName(subject: string): string {
  return subject.replaceAll('_', '_u').replaceAll('.', '_d');
}

export class NatsQueue implements QueueStore {
  readonly #client: NatsClient;
  readonly #js: Client;
  readonly #manager: Manager;
  readonly #subject: string;
  readonly #ackMs: number;
  /** By its stream: to ask for one costs as much as a job. */
  readonly #consumers = new Map<string, Consumer>();
  #lookedMs = Number.NEGATIVE_INFINITY;
  /** What the server said then of what was given out; up to where those that are gone were acknowledged since. */
  #stood = '';
  #goneTo = 0;

  private constructor(client: NatsClient, js: Client, manager: Manager, subject: string, ackMs: number) {
    this.#client = client;
    this.#js = js;
    this.#manager = manager;
    this.#subject = subject;
    this.#ackMs = ackMs;
  }
  /** @param given the package, where this side was handed it */
  static async open(
    client: NatsClient,
    where: string,
    subject: string,
    ackMs: number,
    given: JetStream | undefined,
  ): Promise<NatsQueue> {
    const found =
      given ??
      (
        await packageOf<JetStream>(
          ['@nats-io/jetstream'],
          `keep a queue in NATS at ${where}`,
          'hand in all that it exports as option jetstream',
        )
      ).found;
    if (typeof (client as { addCloseListener?: unknown }).addCloseListener !== 'function') {
      const text = `Cannot keep a queue in NATS at ${where}: @nats-io/jetstream works with a connection of @nats-io/transport-node, and this is one of another package`;
      throw new UnsupportedError(text);
    }
    const longest = streamName(subject).length + 2;
    if (longest > STREAM_NAME_MAX) {
      const text = `Cannot keep queue ${subject} in NATS: its stream's name would have ${longest} characters, and ${STREAM_NAME_MAX} are the most ('_' and '.' count twice)`;
      throw new UsageError('ERR_OPTION', text, { option: 'name', value: subject });
    }
    let manager: Manager;
    try {
      manager = await found.jetstreamManager(client, TIMES);
    } catch (thrown) {
      const cause = plainCause(thrown);
      const why = /permission/i.test(cause.message)
        ? `this user may not (${cause.message}); a queue takes the subjects that docs/guides/engines.md lists`
        : `it has no JetStream (${cause.message}); start nats-server with -js`;
      throw new UnsupportedError(`Cannot keep a queue in NATS at ${where}: ${why}`, { cause });
    }
    const queue = new NatsQueue(client, found.jetstream(client, TIMES), manager, subject, ackMs);
    try {
      await queue.make();
    } catch (thrown) {
      if (thrown instanceof UsageError) throw thrown;
      throw refusedBy(`Cannot keep queue ${subject} in NATS at ${where}`, thrown);
    }
    return queue;
  }
  async make(): Promise<void> {
    await this.#make(this.#stream, [`${this.#subject}.now`, `${this.#subject}.later.*`]);
    await this.#make(this.#deadStream, [`${this.#subject}.dead.*.*`]);
  }
  isGone(error: unknown): boolean {
    const { message, code, status } = error as { message: string; code?: unknown; status?: unknown };
    return code === 404 || status === 404 || /not found|no responders|not enabled/i.test(message);
  }
  isSaid(error: unknown): boolean {
    const { name, message } = error as Error;
    return name === 'JetStreamApiError' || /permission|not enabled|no responders/i.test(message);
  }
  get #stream(): string {
    return streamName(this.#subject);
  }
  get #deadStream(): string {
    return `${streamName(this.#subject)}_x`;
  }
  async #make(name: string, subjects: readonly string[]): Promise<void> {
    // Somebody may have given one that is there bounds, or replicas, of its own.
    if (!(await this.#isThere(name)))
      await this.#manager.streams.add({
        name,
        subjects,
        retention: 'workqueue',
        storage: 'file',
        duplicate_window: QUEUE_ID_MS * NANOS,
      });
    if (await this.#isGivenOut(name)) return;
    await this.#manager.consumers.add(name, {
      durable_name: CONSUMER,
      ack_policy: 'explicit',
      ack_wait: this.#ackMs * NANOS,
      max_deliver: -1,
      max_ack_pending: -1,
    });
  }
  async #isThere(stream: string): Promise<boolean> {
    try {
      await this.#manager.streams.info(stream);
      return true;
    } catch (error) {
      if (this.isGone(error)) return false;
      throw error;
    }
  }
  /** Whether it has the consumer. @throws UsageError ERR_OPTION where that has another ackMs, which some servers would take from there on for all */
  async #isGivenOut(stream: string): Promise<boolean> {
    const found = await this.#manager.consumers.info(stream, CONSUMER).catch(() => undefined);
    const ackMs = (found?.config.ack_wait ?? 0) / NANOS;
    if (found === undefined) return false;
    checkAckMs(ackMs, this.#ackMs, `nats consumer rm ${stream} ${CONSUMER}`);
    return true;
  }

  async put(job: Uint8Array, delayMs: number, id: string | undefined): Promise<void> {
    const subject = delayMs > 0 ? `${this.#subject}.later.${Math.ceil(delayMs)}` : `${this.#subject}.now`;
    await this.#js.publish(subject, job, id === undefined ? {} : { msgID: id });
  }

  async take(count: number, waitMs: number, given: (job: Taken) => void): Promise<void> {
    const put: Promise<void>[] = [];
    for await (const message of this.#fetch(this.#stream, count, waitMs)) {
      const early = this.#earlyMs(message);
      if (early > 0) message.nak(early);
      else if (this.#ofSubject(message).delayMs > 0) {
        const due = this.#due(message);
        // It may fail while others are waited for, or where nobody waits any more.
        due.catch(() => {});
        put.push(due);
      } else given(this.#taken(message));
    }
    await Promise.all(put);
  }
  /** A job whose time has come is put like others, for it was given out before, and nobody knows how often: its number is for who does so twice. */
  async #due(message: Message): Promise<void> {
    // An id of a job has no blank.
    await this.#js.publish(`${this.#subject}.now`, message.data, { msgID: `later ${message.info.streamSequence}` });
    await message.ackAck();
  }
  async *#fetch(stream: string, count: number, waitMs: number): AsyncIterable<Message> {
    const consumer = this.#consumers.get(stream) ?? (await this.#js.consumers.get(stream, CONSUMER));
    // One that has nothing may be there no more, and is asked for anew.
    this.#consumers.delete(stream);
    for await (const message of await consumer.fetch({ max_messages: count, expires: Math.max(waitMs, EXPIRES_MS) })) {
      this.#consumers.set(stream, consumer);
      yield message;
    }
  }
  /** Of one for later its delay; of one that was given back, how often it was tried before. */
  #ofSubject({ subject }: Message): { readonly delayMs: number; readonly tried: number } {
    const later = `${this.#subject}.later.`;
    const [delay = 0, tried = 0] = subject.startsWith(later) ? subject.slice(later.length).split('-') : [];
    return { delayMs: Number(delay), tried: Number(tried) };
  }
  #earlyMs(message: Message): number {
    const { delayMs } = this.#ofSubject(message);
    if (delayMs === 0) return 0;
    const putMs = Number(BigInt(message.info.timestampNanos) / BigInt(NANOS));
    return putMs + delayMs - Date.now();
  }
  #taken(message: Message): Taken {
    const attempt = this.#ofSubject(message).tried + message.info.deliveryCount;
    return {
      bytes: message.data,
      attempt,
      done: async () => {
        await message.ackAck();
      },
      again: async (delayMs) => {
        message.nak(delayMs);
        await this.#client.flush();
      },
      back: async () => {
        // The server counts each time that it gives one out: a fresh copy was never given out, and says of the times before.
        const subject = attempt > 1 ? `${this.#subject}.later.0-${attempt - 1}` : `${this.#subject}.now`;
        await this.#js.publish(subject, message.data);
        await message.ackAck();
      },
      bury: async (attempts, why) => {
        // In this order: one that is there twice is better than one that is nowhere. Where the server does not get the second word, who buries it again says the same of it.
        const said = hexOf(new TextEncoder().encode(why).subarray(0, WHY_BYTES));
        const msgID = idOf('dead', message);
        await this.#js.publish(`${this.#subject}.dead.${attempts}.${said || '0'}`, message.data, { msgID });
        await message.ackAck();
      },
      extend: async () => {
        message.working();
        await this.#client.flush();
        // Whose it is by now the server does not say.
        return true;
      },
    };
  }

  async stats(): Promise<QueueStats> {
    const [consumer, { state }, dead] = await Promise.all([
      this.#manager.consumers.info(this.#stream, CONSUMER),
      this.#manager.streams.info(this.#stream),
      this.#manager.streams.info(this.#deadStream),
    ]);
    const again = consumer.num_ack_pending > 0 && (await this.#settleGone(consumer, state));
    const { num_pending: waiting, num_ack_pending: given } = again
      ? await this.#manager.consumers.info(this.#stream, CONSUMER)
      : consumer;
    const running = Math.min(given, Math.max(0, state.messages - waiting));
    return { waiting, running, dead: dead.state.messages };
  }
  /**
   * A server that was killed may count as given out what was done, and is in the stream no more (seen in NATS 2.9). It does not find out by itself: where
   * nothing was given out or done between two looks, a second apart, what is not there is acknowledged again.
   * @returns whether it has
   */
  async #settleGone(consumer: ConsumerState, state: StreamState): Promise<boolean> {
    const now = performance.now();
    if (now - this.#lookedMs < GONE_MS) return false;
    this.#lookedMs = now;
    const { ack_floor: floor, delivered, num_ack_pending: given } = consumer;
    const stands = `${delivered.consumer_seq} ${given}`;
    if (stands !== this.#stood) {
      this.#stood = stands;
      this.#goneTo = floor.stream_seq;
      return false;
    }
    const from = this.#goneTo + 1;
    const to = Math.min(delivered.stream_seq, this.#goneTo + GONE_MOST);
    if (from > to) return false;
    try {
      const deleted = new Set(await this.#deleted(state));
      const gone: number[] = [];
      for (let seq = from; seq <= to; seq++) if (seq < state.first_seq || deleted.has(seq)) gone.push(seq);
      for (const seq of gone.slice(0, -1)) this.#client.publish(this.#ackSubject(seq), ACK);
      const last = gone.at(-1);
      // It has taken the others when it answers to this one.
      if (last !== undefined) await this.#client.request(this.#ackSubject(last), ACK, { timeout: EXPIRES_MS });
      this.#goneTo = to;
      return last !== undefined;
    } catch {
      // Who may not ask, or hears nothing, takes what the server says.
      return false;
    }
  }
  /** Of those behind the first that is there. */
  async #deleted({ num_deleted: count = 0 }: StreamState): Promise<readonly number[]> {
    if (count === 0 || count > GONE_MOST) return [];
    return (await this.#manager.streams.info(this.#stream, { deleted_details: true })).state.deleted ?? [];
  }
  /**
   * Of one that was given out: how often, as which of all that were, when, and how many were behind it. As which is not to be what the server waits for: before 2.10.14 it
   * takes all before that one for done, though they are not.
   */
  #ackSubject(seq: number): string {
    return `$JS.ACK.${this.#stream}.${CONSUMER}.1.${seq}.0.0.0`;
  }

  async takeDead(count: number): Promise<TakenDead[]> {
    // Asked for those that there are: whoever waits for a full hand waits for a second.
    const { state } = await this.#manager.streams.info(this.#deadStream);
    const messages: Message[] = [];
    const most = Math.min(count, state.messages);
    if (most > 0) for await (const message of this.#fetch(this.#deadStream, most, EXPIRES_MS)) messages.push(message);
    return messages.map((message) => {
      const [attempts = '', said = ''] = message.subject.slice(`${this.#subject}.dead.`.length).split('.');
      const why = new TextDecoder().decode(bytesOfHex(said));
      return {
        bytes: message.data,
        attempts: Number(attempts),
        why,
        drop: async () => {
          await message.ackAck();
        },
        retry: async () => {
          await this.#js.publish(`${this.#subject}.now`, message.data, { msgID: idOf('again', message) });
          await message.ackAck();
        },
      };
    });
  }

  async close(): Promise<void> {}
}
/** By which what becomes of a message is put into another stream once. A stream that is made anew begins its numbers anew, and that other one may have outlived it. */
function idOf(what: string, { info: { streamSequence, timestampNanos } }: Message): string {
  return `${what} ${streamSequence} ${timestampNanos}`;
}
