// Values that follow a call one by one: async iterables, generators and ReadableStreams, among arguments and results. The reader gives credit, so that who
// writes is ahead of it by a window at the most; the last one ends it, once, or the reader does.
import { type ClosedError, UnsupportedError, UsageError } from '../errors.ts';
import { CALLS_STREAMS_MAX, CALLS_WINDOW_MAX } from '../limits.ts';
import type { HostReadableStream } from '../platform/host-types.ts';
import { lostError } from './calls.ts';
import type { Connection } from './connection.ts';
import { protocolError, thrownBy } from './failures.ts';
import * as kinds from './messages.ts';
import { following, isNumber, type Message } from './messages.ts';
import { Reader, RemoteIterator } from './stream-reader.ts';
import { isStill, Source, stepsOf } from './stream-source.ts';

export class Streams {
  readonly #connection: Connection;
  readonly #sources: Map<number, Source> = new Map();
  readonly #readers: Map<number, Reader> = new Map();
  /** What nobody can read any more is cancelled: a function that is given a stream need not know what that is. */
  readonly #collected: FinalizationRegistry<Reader> = new FinalizationRegistry((reader) => reader.cancel());
  #last: number;
  /** Readers that somebody waits for. */
  #awaited = 0;

  constructor(connection: Connection, last: number) {
    this.#connection = connection;
    this.#last = last;
  }

  /** Streams that are not over, of both directions. */
  get size(): number {
    return this.#sources.size + this.#readers.size;
  }
  /** The same apart: those of this side, and of the other one. */
  get open(): readonly [sources: number, readers: number] {
    return [this.#sources.size, this.#readers.size];
  }
  /** Whether somebody waits for what comes. */
  get awaited(): boolean {
    return this.#awaited > 0;
  }
  waits(begins: boolean): void {
    this.#awaited += begins ? 1 : -1;
    if (begins && this.#awaited === 1) this.#connection.rehold();
    else if (this.#awaited === 0) this.#connection.reholdSoon();
  }

  /**
   * Of a value that goes out. Nothing of it runs before the other side reads.
   * @param still this thread is blocked meanwhile
   * @throws UsageError ERR_LIMIT, ERR_OPTION; UnsupportedError
   */
  source(value: object, still: boolean): number {
    if (this.#sources.size >= CALLS_STREAMS_MAX) {
      throw new UsageError('ERR_LIMIT', `Cannot send a stream: ${CALLS_STREAMS_MAX} of this side are not over`, {
        limit: CALLS_STREAMS_MAX,
      });
    }
    if (still && !isStill(value)) {
      throw new UnsupportedError(
        'Cannot send an async iterable or a ReadableStream here: it is read while this thread is blocked, and nothing of it would run; give a generator that is not async, or call without blocking',
        { feature: 'calls' },
      );
    }
    const steps = stepsOf(value);
    do this.#last = following(this.#last);
    while (this.#sources.has(this.#last));
    const id = this.#last;
    this.#sources.set(id, new Source(this.#connection, id, steps, () => this.#over(this.#sources, id)));
    return id;
  }

  /** @throws CodecError ERR_PROTOCOL */
  reader(id: number): Reader {
    if (this.#readers.has(id) || this.#readers.size >= CALLS_STREAMS_MAX) throw protocolError('one more stream');
    const reader = new Reader(this.#connection, id, () => this.#over(this.#readers, id));
    this.#readers.set(id, reader);
    return reader;
  }
  #over(streams: Map<number, unknown>, id: number): void {
    streams.delete(id);
    this.#connection.pool?.streamOver();
    this.#connection.less();
  }
  iterable(id: number): AsyncGenerator<unknown> {
    const reader = this.reader(id);
    const iterator = new RemoteIterator(reader);
    this.#collected.register(iterator, reader);
    return iterator as unknown as AsyncGenerator<unknown>;
  }
  readable(id: number): HostReadableStream<unknown> {
    const reader = this.reader(id);
    const stream = new ReadableStream<unknown>(
      {
        async pull(controller): Promise<void> {
          const { done, value } = await reader.next(stream);
          if (done === true) controller.close();
          else controller.enqueue(value);
        },
        cancel: () => reader.cancel(),
      },
      // What lies here counts in the window, not beside it.
      { highWaterMark: 0 },
    );
    this.#collected.register(stream, reader);
    return stream;
  }
  /** Of a stream that comes with what nobody wants. */
  refuse(id: number): void {
    if (!this.#readers.has(id)) this.#connection.out.say(kinds.CANCEL, id);
  }

  // ---- what the other side says: @throws CodecError ERR_PROTOCOL ----------------------------------------------

  credit(id: unknown, count: unknown): void {
    if (!isNumber(id) || !isNumber(count) || count > CALLS_WINDOW_MAX) throw protocolError('credit');
    this.#sources.get(id)?.more(count);
  }
  cancel(id: unknown): void {
    if (!isNumber(id)) throw protocolError('a stream');
    this.#sources.get(id)?.stop();
  }
  items(message: Message): void {
    // None: it was cancelled, and they were on their way.
    this.#reader(message[1])?.take(message, 2);
  }
  itemWith(id: unknown, refs: unknown, value: unknown): void {
    const reader = this.#reader(id);
    if (reader === undefined) {
      this.#connection.values.discard(refs);
      return;
    }
    const values = [value];
    try {
      this.#connection.values.unpack(values, refs);
    } catch (error) {
      reader.fail(error);
      throw error;
    }
    reader.take(values, 0);
  }
  ended(message: Message): void {
    const reader = this.#reader(message[1]);
    if (reader === undefined) return;
    try {
      reader.end(message.length > 2 ? { error: thrownBy(message[2]) } : {});
    } catch (error) {
      reader.end({ error });
      throw error;
    }
  }
  #reader(id: unknown): Reader | undefined {
    if (!isNumber(id)) throw protocolError('a stream');
    return this.#readers.get(id);
  }

  /** A message was lost, and it may have been any one's. */
  lost(): void {
    const error = lostError();
    for (const reader of [...this.#readers.values()]) reader.fail(error);
    for (const source of [...this.#sources.values()]) source.fail(error);
  }
  end(error: ClosedError | UnsupportedError): void {
    for (const reader of [...this.#readers.values()]) reader.end({ error });
    for (const source of [...this.#sources.values()]) source.stop();
  }
}
