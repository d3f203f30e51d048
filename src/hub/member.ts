// One who takes part in a hub, at its end of a port: what it says is looked at, word by word, and what it hears is bounded.
import { isId, isReplySubject } from '../engine/names.ts';
import { MillraceError } from '../errors.ts';
import {
  HUB_ANSWER_BYTES,
  HUB_AWAY_MS,
  HUB_QUEUE_BYTES,
  HUB_SEATS_MAX,
  HUB_TAKE_MS_MAX,
  HUB_TAKES_MAX,
  HUB_UNSAID_MAX,
  HUB_WAITING_BYTES,
  QUEUE_CONCURRENCY_MAX,
  QUEUE_DEAD_MAX,
  QUEUE_WHY_MAX,
  TIMEOUT_MS_MAX,
} from '../limits.ts';
import type { Port } from '../port/port.ts';
import { shown } from './claimed.ts';
import { type Budget, type Hold, KeptQueue } from './kept-queue.ts';
import { isPattern, type Subjects } from './subjects.ts';
import {
  DONE,
  FAILED,
  FLUSH,
  HEARD,
  HELLO,
  HUB,
  HUB_VERSION,
  isBytes,
  isCount,
  isSubject,
  isWords,
  OVER,
  PUBLISH,
  QUEUE,
  type QueueFailure,
  SUBSCRIBE,
  TELL,
  UNSUBSCRIBE,
  type Words,
} from './words.ts';

const FULL = 'ERR_OUTBOX_FULL';

/** Where one subscription of a member is. */
export interface Seat {
  readonly member: Member;
  readonly number: number;
}
/** What all members of a hub share. */
export interface Shared {
  readonly subjects: Subjects<Seat>;
  readonly queues: Map<string, KeptQueue<Member>>;
  readonly budget: Budget;
  /** Those that have said what they are known by. */
  readonly byId: Map<string, Member>;
  /** Messages that a member was too slow for. */
  dropped: number;
}

const TOO_LARGE = 'ERR_TOO_LARGE';
function exactly(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength === bytes.length ? bytes : bytes.slice();
}

/** What it has said makes no sense. */
class Odd {
  readonly why: string;
  constructor(why: string) {
    this.why = why;
  }
}

export class Member {
  readonly #port: Port;
  readonly #shared: Shared;
  readonly #seats = new Map<number, { readonly subject: string; readonly seat: Seat }>();
  #greeted = false;
  #id: string | undefined;
  /** Its line is lost, and has been for a while. */
  #away = false;
  #awayTimer: ReturnType<typeof setTimeout> | undefined;
  /** Of its seats: parts of patterns, or one. */
  #weight = 0;
  /** How often it waits for jobs. */
  #takes = 0;
  #over = false;
  /** Answers that its port had no room for; of those that other members have given, the bytes. */
  readonly #unsaid: Words[] = [];
  #unsaidBytes = 0;
  readonly #statusTold = ({ data }: { readonly data: unknown }): void => this.#lineIs(data === 'open');

  constructor(port: Port, shared: Shared, left: () => void) {
    this.#port = port;
    this.#shared = shared;
    port.on('message', (value) => this.#said(value));
    port.on('messageerror', () => this.end('it has sent what cannot be read'));
    void port.closed.then(() => {
      this.#leave();
      left();
    });
    port.link?.addEventListener('status', this.#statusTold);
    if (port.link?.status === 'reconnecting') this.#lineIs(false);
    this.#say([HELLO, HUB_VERSION, HUB]);
  }
  /** Nobody knows whether one that has no line comes back: others do its work meanwhile, and what it says of it when it is back is believed. */
  #lineIs(there: boolean): void {
    this.#away = false;
    clearTimeout(this.#awayTimer);
    if (there || this.#over) return;
    this.#awayTimer = setTimeout(() => {
      this.#away = true;
      for (const queue of this.#shared.queues.values()) queue.left(this, true);
    }, HUB_AWAY_MS);
    // The connection that is to come back holds the process, as long as it does.
    (this.#awayTimer as { unref?(): void }).unref?.();
  }

  /** @param why it is not to come again */
  end(why?: string): void {
    if (this.#over) return;
    this.#leave();
    if (why !== undefined) this.#say([OVER, why]);
    this.#port.close();
  }
  #leave(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#awayTimer);
    // The link may have other channels, and stay.
    this.#port.link?.removeEventListener('status', this.#statusTold);
    const { subjects, queues, byId } = this.#shared;
    if (this.#id !== undefined && byId.get(this.#id) === this) byId.delete(this.#id);
    for (const { subject, seat } of this.#seats.values()) subjects.remove(subject, seat);
    this.#seats.clear();
    for (const queue of queues.values()) queue.left(this, false);
  }
  #say(words: Words): void {
    const [word] = words;
    if (this.#unsaid.length > 0 && word !== OVER) {
      this.#keep(words);
      return;
    }
    const code = this.#posted(words);
    if (code === undefined) return;
    if (word === OVER) this.#port.close();
    else if (code === FULL) this.#keep(words);
    else this.end(`it could not be answered (${code})`);
  }
  /** @returns why not */
  #posted(words: Words): string | undefined {
    try {
      this.#port.postMessage(words);
      return undefined;
    } catch (error) {
      // Whatever it is, it is its port's.
      return error instanceof MillraceError ? error.code : String(error);
    }
  }
  /** An answer has no room: a port may have less of it than is left to spare here. It goes when there is, and what is heard meanwhile is passed over. */
  #keep(words: Words): void {
    this.#unsaid.push(words);
    if (this.#unsaid.length > HUB_UNSAID_MAX) this.end('it takes nothing in, though it asks');
    else if (this.#unsaid.length === 1) this.#sayLater();
  }
  #sayLater(): void {
    this.#port
      .drained()
      .then(() => this.#sayUnsaid())
      // Its end is told otherwise.
      .catch(() => this.end());
  }
  #sayUnsaid(): void {
    for (let words = this.#unsaid[0]; words !== undefined && !this.#over; words = this.#unsaid[0]) {
      const { outboxBytes: before } = this.#port.stats();
      const code = this.#posted(words);
      const isHeard = words[0] === HEARD;
      if (code === FULL && before > 0) {
        this.#sayLater();
        return;
      }
      if (code !== undefined && !(isHeard && code === TOO_LARGE)) {
        this.end(`it could not be answered (${code})`);
        return;
      }
      if (code !== undefined) this.#shared.dropped++;
      this.#unsaid.shift();
      if (isHeard) this.#unsaidBytes -= (words[2] as Uint8Array).length;
    }
  }

  /**
   * Something was published that it listens for. A member that is slow is not to fill this side's memory: it takes no more than a port's share, and its readers find what is
   * missing. Who has asked waits for its answers, and has more room for those; what its port has no room for goes later, as what one of many is to do.
   * @param others whether another one may do
   * @returns whether it will hear it
   */
  hear(subject: string, bytes: Uint8Array, numbers: readonly number[], together: boolean, others: boolean): boolean {
    if (this.#over || (together && this.#away)) return false;
    const words = [HEARD, subject, bytes, numbers];
    const isAnswer = isReplySubject(subject);
    try {
      const most = isAnswer ? HUB_ANSWER_BYTES : HUB_WAITING_BYTES;
      const enough = this.#port.full && this.#port.stats().outboxBytes >= most;
      const code = enough || this.#unsaid.length > 0 ? FULL : this.#posted(words);
      if (code === undefined) return true;
      if (code !== FULL && code !== TOO_LARGE) this.end(`it could not be told (${code})`);
      else if (!others && (isAnswer || together) && code === FULL && !enough && this.#hasRoomFor(bytes)) {
        // What is kept is not to hold more than it is counted for.
        const own = exactly(bytes);
        this.#unsaidBytes += own.length;
        this.#keep([HEARD, subject, own, numbers]);
        return true;
      }
    } catch (error) {
      // Its memory may be damaged: that is not the doing of who publishes.
      this.end(`it could not be told: ${String(error)}`);
    }
    if (!together) this.#shared.dropped++;
    return false;
  }
  /** Half of what may wait is for its own answers, without which it is ended. */
  #hasRoomFor(bytes: Uint8Array): boolean {
    return this.#unsaid.length < HUB_UNSAID_MAX / 2 && this.#unsaidBytes + bytes.length <= HUB_ANSWER_BYTES;
  }

  #said(value: unknown): void {
    if (this.#over) return;
    try {
      if (!isWords(value)) throw new Odd('it does not speak as a member of a hub does');
      this.#word(value);
    } catch (error) {
      // Whatever it is, it is this one's doing.
      this.end(error instanceof Odd ? error.why : `what it has said could not be taken in: ${String(error)}`);
    }
  }
  #word([word, ...said]: Words): void {
    if (!this.#greeted) {
      if (word !== HELLO || said[0] !== HUB_VERSION)
        throw new Odd(
          `it speaks version ${shown(said[0])} of what members of a hub speak, and this hub ${HUB_VERSION}`,
        );
      this.#greeted = true;
      this.#known(said[1]);
      return;
    }
    if (word === PUBLISH) {
      this.#publish(said[0], said[1]);
      return;
    }
    const ask = check(said[0], isCount);
    switch (word) {
      case TELL:
        this.#say([DONE, ask, this.#publish(said[1], said[2]) > 0]);
        return;
      case FLUSH:
        this.#say([DONE, ask, null]);
        return;
      case SUBSCRIBE:
        this.#subscribe(check(said[1], isCount), check(said[2], isSubject), said[3] === true);
        this.#say([DONE, ask, null]);
        return;
      case UNSUBSCRIBE:
        this.#unsubscribe(check(said[1], isCount));
        this.#say([DONE, ask, null]);
        return;
      case QUEUE:
        this.#queue(ask, check(said[1], isSubject), said[2], said.slice(3));
        return;
      default:
        throw new Odd(`it has said ${shown(word)}, which means nothing`);
    }
  }

  /** One that comes anew, over another port, has left the one before, whatever that says. */
  #known(id: unknown): void {
    if (typeof id !== 'string' || !isId(id)) return;
    const { byId } = this.#shared;
    byId.get(id)?.end();
    this.#id = id;
    byId.set(id, this);
  }

  #publish(about: unknown, what: unknown): number {
    const [subject, bytes] = [check(about, isSubject), check(what, isBytes)];
    if (isPattern(subject)) throw new Odd('it publishes to a pattern');
    const told = new Map<Member, number[]>();
    const heard = this.#shared.subjects.each(subject, ({ member, number }, together, others) => {
      if (together) return member.hear(subject, bytes, [number], true, others);
      const numbers = told.get(member);
      if (numbers === undefined) told.set(member, [number]);
      else numbers.push(number);
      return true;
    });
    for (const [member, numbers] of told) member.hear(subject, bytes, numbers, false, false);
    return heard;
  }
  #subscribe(number: number, subject: string, together: boolean): void {
    if (this.#seats.has(number)) throw new Odd(`it has two subscriptions of number ${number}`);
    this.#weight += weightOf(subject);
    if (this.#weight > HUB_SEATS_MAX) throw new Odd(`it has ${HUB_SEATS_MAX} subscriptions, which are the most`);
    const seat: Seat = { member: this, number };
    this.#seats.set(number, { subject, seat });
    this.#shared.subjects.add(subject, seat, together);
  }
  #unsubscribe(number: number): void {
    const found = this.#seats.get(number);
    if (found === undefined) return;
    this.#seats.delete(number);
    this.#weight -= weightOf(found.subject);
    this.#shared.subjects.remove(found.subject, found.seat);
  }

  #queue(ask: number, name: string, action: unknown, said: Words): void {
    const { queues, budget } = this.#shared;
    const done = (value: unknown): void => this.#say([DONE, ask, value]);
    const failed = (code: QueueFailure, text: string): void => this.#say([FAILED, ask, code, text]);
    if (action === 'make') {
      const ackMs = check(said[0], isMs);
      const queue = queues.get(name) ?? this.#make(ackMs);
      if (queue === undefined) failed('full', noRoom(budget));
      else {
        queues.set(name, queue);
        done(queue.ackMs);
      }
      return;
    }
    const queue = queues.get(name);
    if (queue === undefined) {
      failed('gone', `this hub has no queue ${name}`);
      return;
    }
    switch (action) {
      case 'put': {
        const id = said[2] === null ? undefined : check(said[2], isSubject);
        // What is kept is not to hold more than it is counted for.
        if (queue.put(exactly(check(said[0], isBytes)), check(said[1], isMs), id)) done(null);
        else failed('full', noRoom(budget));
        return;
      }
      case 'take': {
        const count = Math.min(check(said[0], isCount), QUEUE_CONCURRENCY_MAX);
        if (this.#takes >= HUB_TAKES_MAX) throw new Odd(`it waits for jobs ${HUB_TAKES_MAX} times at once`);
        this.#takes++;
        queue.take(this, count, Math.min(check(said[1], isMs), HUB_TAKE_MS_MAX), (jobs) => {
          this.#takes--;
          done(jobs.map(({ number, bytes, attempt }) => [number, bytes, attempt]));
        });
        return;
      }
      case 'stats':
        done(queue.stats);
        return;
      case 'dead': {
        const count = Math.min(check(said[0], isCount), QUEUE_DEAD_MAX);
        done(queue.takeDead(this, count).map(({ number, bytes, attempts, why }) => [number, bytes, attempts, why]));
        return;
      }
      default:
        done(this.#settle(queue, action, check(said[0], isCount), said));
    }
  }
  /** Where there is no room, those go that nobody has anything of. */
  #make(ackMs: number): KeptQueue<Member> | undefined {
    const { queues, budget } = this.#shared;
    if (budget.used + HUB_QUEUE_BYTES > budget.max) {
      for (const [name, queue] of queues) {
        if (!queue.idle) continue;
        queue.close();
        queues.delete(name);
      }
    }
    return budget.used + HUB_QUEUE_BYTES > budget.max ? undefined : new KeptQueue<Member>(ackMs, budget);
  }
  #settle(queue: KeptQueue<Member>, action: unknown, number: number, said: Words): unknown {
    const held = (): Hold => ({ number, attempt: check(said[1], isCount) });
    switch (action) {
      case 'done':
        queue.done(number);
        return null;
      case 'again':
        queue.again(this, held(), check(said[2], isMs));
        return null;
      case 'back':
        queue.back(this, held());
        return null;
      case 'extend':
        return queue.extend(this, held());
      case 'bury':
        queue.bury(this, held(), check(said[2], isCount), check(said[3], isText).slice(0, QUEUE_WHY_MAX));
        return null;
      case 'drop':
        queue.settleDead(number, false);
        return null;
      case 'retry':
        queue.settleDead(number, true);
        return null;
      default:
        throw new Odd(`it asks a queue to ${shown(action)}, which means nothing`);
    }
  }
}

/** How much of a tree a subscription takes. */
function weightOf(subject: string): number {
  return isPattern(subject) ? subject.split('.').length : 1;
}
function noRoom({ max }: Budget): string {
  return `its queues keep ${max} bytes together (maxQueueBytes), and have no room for more`;
}
function check<T>(value: unknown, is: (value: unknown) => value is T): T {
  if (is(value)) return value;
  throw new Odd('it has said something that has not the form of what members of a hub say');
}
function isText(value: unknown): value is string {
  return typeof value === 'string';
}
function isMs(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= TIMEOUT_MS_MAX;
}
