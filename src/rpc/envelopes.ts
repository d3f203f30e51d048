// What one side says to the other: messages of one turn go in one envelope, those of streams gather a little longer, and a port that is full is waited for.
import { UsageError } from '../errors.ts';
import { CALLS_BATCH_MAX, CALLS_GATHER_HOPS, CALLS_PART } from '../limits.ts';
import type { CallPort, Connection } from './connection.ts';
import type { Message } from './messages.ts';
import * as kinds from './messages.ts';

/** A message on its way out. */
export interface Outgoing {
  message: Message;
  transfer: readonly unknown[] | undefined;
  /** It has gone out. */
  onSent?(): void;
  /** It could not be sent. True: it is another one now, to be tried again. */
  refused?(error: unknown): boolean;
}

/** What is to run in a microtask is hung on it: on Node `queueMicrotask` makes more objects, and runs more code, which takes time after a rest. */
const settled: Promise<void> = Promise.resolve();

export class Envelopes {
  readonly #connection: Connection;
  readonly #port: CallPort;
  /** Not there while it is empty: most have one message, and an array that is made for one is a small one. */
  #queue: Outgoing[] | undefined;
  #scheduled = false;
  #awaitsRoom = false;
  /** Microtasks that a stream has put off what is to be sent. */
  #hops = 0;
  #gathers = false;
  #greeted = false;
  /** Messages that wait and have been asked for by the other side: it need never read one. */
  #replies = 0;
  /** The port takes no more, though this thread is blocked and cannot wait: what waits here goes once the other side reads. */
  #stuck = false;
  /** LOST waits to be sent. */
  #saysLost = false;
  /** Of what waits, what does not go out any more. */
  #withdrawn = 0;
  readonly #waitsForRoom: (() => void)[] = [];
  #sent: number;

  /** @param last the numbers go on behind it */
  constructor(connection: Connection, port: CallPort, last: number) {
    this.#connection = connection;
    this.#port = port;
    this.#sent = last;
  }

  /** Goes with what else is said in this turn. */
  send(outgoing: Outgoing): void {
    if (this.#connection.ended !== undefined) return;
    this.#enqueue(outgoing);
    this.#gathers = false;
    this.schedule();
  }
  say(...message: Message): void {
    this.send({ message, transfer: undefined });
  }
  /** What the other side has asked for. */
  reply(outgoing: Outgoing): void {
    this.#replies++;
    this.send(outgoing);
  }
  /**
   * By another door's manners a value is copied, and moved, when it is said, and not at the end of the turn, until when the program may change it.
   * @param outgoing what was sent last
   */
  copied(outgoing: Outgoing, values: readonly unknown[]): void {
    const { manners } = this.#connection;
    if (manners === undefined || !values.some((value) => typeof value === 'object' && value !== null)) return;
    this.flush();
    // There is no room for it yet.
    if (this.#queue?.at(-1) !== outgoing) return;
    const moved = outgoing.transfer ?? [];
    try {
      const clone = structuredClone([outgoing.message, moved] as const, { transfer: [...moved] as never[] });
      [outgoing.message, outgoing.transfer] = clone;
    } catch {
      // Our clone may take what the runtime's does not: what is wrong with it is told when it goes out.
    }
  }
  /** Messages that have not gone out. */
  get waiting(): number {
    return this.#queue?.length ?? 0;
  }
  get stuck(): boolean {
    return this.#stuck;
  }
  /** It has not gone out, and does not. */
  withdraw(outgoing: Outgoing): void {
    outgoing.message = kinds.NOTHING;
    const queue = this.#queue;
    if (++this.#withdrawn < CALLS_BATCH_MAX || queue === undefined || this.#withdrawn * 2 < queue.length) return;
    this.#withdrawn = 0;
    this.#queue = stillToGo(queue);
  }
  /** Who has more to send, and can wait, does so: the port is full, or what is to be sent is many messages already. */
  get crowded(): boolean {
    if (this.#connection.blocking.depth > 0) return this.#stuck;
    return (this.#queue?.length ?? 0) >= CALLS_BATCH_MAX || this.#port.full;
  }
  /** Once what is to be sent has gone out. */
  whenRoom(go: () => void): void {
    this.#waitsForRoom.push(go);
    this.schedule();
  }
  /** As `send`, for what more of the same is likely to follow soon. */
  gather(outgoing: Outgoing): void {
    if (this.#connection.ended !== undefined) return;
    this.#enqueue(outgoing);
    this.#gathers = true;
    this.schedule();
  }
  /** More of what was gathered has gone into a message that waits. */
  gathers(): void {
    this.#gathers = true;
  }
  /** A function or reference of the other side's is not held any more. */
  letGo(id: number, count: number): void {
    this.say(kinds.RELEASE, id, count);
    this.#connection.less();
  }
  /** Sends one message at once: a part of one that could not be sent. */
  postNow(outgoing: Outgoing): void {
    this.#putBack(this.#post([outgoing]));
  }
  #enqueue(outgoing: Outgoing): void {
    // In parts, so that the other side has something to do while this one goes on. Not with the last one: what builds upon that is yet to come.
    if (this.#queue !== undefined && this.#queue.length >= CALLS_PART) this.flush();
    if (this.#queue === undefined) this.#queue = [outgoing];
    else this.#queue.push(outgoing);
  }
  schedule(): void {
    if (this.#scheduled || this.#awaitsRoom) return;
    this.#scheduled = true;
    void settled.then(this.#turn);
  }
  readonly #turn = (): void => {
    if (this.#gathers && this.#hops++ < CALLS_GATHER_HOPS) {
      // Whoever sends without gathering, or not at all until the next microtask, ends it.
      this.#gathers = false;
      void settled.then(this.#turn);
      return;
    }
    this.#hops = 0;
    this.#scheduled = false;
    this.flush();
  };

  /** Sends what there is. A port that is full is waited for, unless this thread blocks. */
  flush(): void {
    if (this.#connection.ended !== undefined || (this.#queue === undefined && this.#waitsForRoom.length === 0)) return;
    if (!this.#connection.blocking.ofThread && this.#port.full) {
      if (this.#awaitsRoom) return;
      this.#awaitsRoom = true;
      const go = (): void => {
        this.#awaitsRoom = false;
        this.flush();
      };
      this.#port.drained().then(go, go);
      return;
    }
    if (this.#queue !== undefined) this.#greet();
    let queue = this.#queue;
    this.#queue = undefined;
    this.#stuck = false;
    this.#saysLost = false;
    if (!this.#port.full) this.#replies = 0;
    if (this.#withdrawn > 0 && queue !== undefined) queue = stillToGo(queue);
    this.#withdrawn = 0;
    for (let i = 0; queue !== undefined && i < queue.length; i += CALLS_BATCH_MAX) {
      // One that could not be sent may have taken later ones along.
      const batch = queue.length <= CALLS_BATCH_MAX ? queue : stillToGo(queue.slice(i, i + CALLS_BATCH_MAX));
      const left = batch && this.#post(batch);
      if (left === undefined) continue;
      this.#putBack([...left, ...queue.slice(i + CALLS_BATCH_MAX)]);
      return;
    }
    if (this.#waitsForRoom.length > 0) for (const go of this.#waitsForRoom.splice(0)) go();
  }

  /** Says that somebody is here: who has started this side waits for that. */
  greet(): void {
    if (this.#greeted || this.#connection.ended !== undefined) return;
    this.#greet();
    this.schedule();
  }
  #greet(): void {
    if (this.#greeted) return;
    this.#greeted = true;
    const hello: Outgoing = { message: [kinds.HELLO, kinds.VERSION, this.#connection.token], transfer: undefined };
    this.#queue = [hello, ...(this.#queue ?? [])];
  }

  /** In front of what has been said meanwhile: a reader that comes late misses nothing, and hears it in its order. */
  #putBack(left: readonly Outgoing[] | undefined): void {
    if (left === undefined) return;
    this.#stuck = true;
    this.#saysLost ||= left.some(({ message }) => message[0] === kinds.LOST);
    this.#queue = [...left, ...(this.#queue ?? [])];
    this.schedule();
  }
  /** @returns what did not go out because the port takes no more; `undefined`: it has gone, or never will */
  #post(batch: readonly Outgoing[]): readonly Outgoing[] | undefined {
    const number = kinds.following(this.#sent);
    // At once as long as it is to be: one that grows takes room for more.
    const envelope: unknown[] = [number, batch[0]!.message];
    let transfer: unknown[] | undefined;
    for (let i = 0; i < batch.length; i++) {
      const outgoing = batch[i]!;
      if (i > 0) envelope.push(outgoing.message);
      if (outgoing.transfer !== undefined) (transfer ??= []).push(...outgoing.transfer);
    }
    try {
      this.#port.postMessage(envelope, transfer);
      this.#sent = number;
      for (const outgoing of batch) outgoing.onSent?.();
    } catch (error) {
      if (error instanceof UsageError && error.code === 'ERR_OUTBOX_FULL' && this.#port.full) return batch;
      // Which of them it was is found by sending each alone.
      if (batch.length > 1) {
        for (let i = 0; i < batch.length; i++) {
          const left = batch[i]!.message === kinds.NOTHING ? undefined : this.#post([batch[i]!]);
          if (left !== undefined) return batch.slice(i);
        }
      } else if (batch[0]!.refused?.(error) === true) return this.#post(batch);
    }
    return undefined;
  }

  /** The other side has asked for more than it reads the answers of: what it asks is not heard, and it is told so once it reads. */
  overloaded(): boolean {
    const limit = this.#connection.options.maxPending * 2 + CALLS_BATCH_MAX;
    if (this.#replies < limit && !this.#stuck) return false;
    this.flush();
    if (this.#replies < limit && !this.#stuck) return false;
    this.sayLost();
    return true;
  }
  sayLost(): void {
    if (this.#saysLost) return;
    this.#saysLost = true;
    this.say(kinds.LOST);
  }

  /** Nothing is said any more. */
  end(): void {
    this.#queue = undefined;
    this.#waitsForRoom.length = 0;
  }
}

/** But what was withdrawn; none: nothing. */
function stillToGo(queue: readonly Outgoing[]): Outgoing[] | undefined {
  const left = queue.filter(({ message }) => message !== kinds.NOTHING);
  return left.length > 0 ? left : undefined;
}
