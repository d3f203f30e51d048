// Runs rings on an event loop: drains them, looks again for a while, sleeps until somebody rings. Requests are records: a number, then the text as
// latin1.

import type { Consumer, Producer } from '../../src/ring/index.ts';
import { DATA } from '../../src/wait/signal.ts';
import { Spin } from '../../src/wait/spin.ts';
import { openDoor } from '../doors.ts';
import type { Note } from '../process-subject.ts';
import type { RingSide } from './ring-meeting.ts';

const door = await openDoor<typeof import('../../src/ring/index.ts')>('./ring');

/** Timers and the master's orders have their turn after so long. */
const STAY_MS = 2;
const DRAINS_PER_CLOCK = 16;
const NUMBER_BYTES = 4;

export class RingEnd {
  readonly #side: RingSide;
  readonly #producer: Producer;
  readonly #consumer: Consumer;
  readonly #take: (bytes: Uint8Array, offset: number, length: number) => void;
  readonly ready = (): boolean => this.#consumer.ready;

  constructor(side: RingSide, onNote: (note: Note, end: RingEnd) => void) {
    const { region } = side;
    const { words, text } = region.views;
    this.#side = side;
    this.#producer = new door.Producer(region.lanes[side.out], side.waker);
    this.#consumer = new door.Consumer(region.lanes[side.in]);
    this.#take = (_bytes, offset, length) => {
      const id = words[offset >> 2] as number;
      onNote({ id, payload: text.latin1Slice(offset + NUMBER_BYTES, offset + length) }, this);
    };
  }

  /** At most a few are under way: there is room, or something is wrong. */
  send({ id, payload }: Note): void {
    const offset = this.#producer.tryClaim(NUMBER_BYTES + payload.length);
    if (offset === door.FULL) throw new Error('the ring is full');
    const { words, text } = this.#side.region.views;
    words[offset >> 2] = id;
    text.latin1Write(payload, offset + NUMBER_BYTES, payload.length);
    this.#producer.commit();
  }

  drain(): number {
    return this.#consumer.drain(this.#take);
  }
  park(): boolean {
    return this.#side.wait.park(DATA, this.ready);
  }
  unpark(): void {
    this.#side.wait.unpark();
  }
  close(): void {
    this.#side.close();
  }
}

export class RingLoop {
  readonly #spin: Spin;
  readonly #ends: RingEnd[] = [];
  readonly #run = (): void => this.#work();
  readonly #ready = (): boolean => this.#ends.some((end) => end.ready());
  #restingSince = 0;
  #due = false;
  #closed = false;

  constructor(spinMicroseconds: number) {
    this.#spin = new Spin(spinMicroseconds);
  }

  add(end: RingEnd): void {
    this.#ends.push(end);
    this.heard();
  }

  /** Somebody has rung. */
  heard(): void {
    if (this.#restingSince > 0) this.#spin.slept(performance.now() - this.#restingSince);
    this.#restingSince = 0;
    this.#work();
  }

  close(): void {
    this.#closed = true;
    for (const end of this.#ends) end.close();
  }

  #work(): void {
    this.#due = false;
    if (this.#closed) return;
    const until = performance.now() + STAY_MS;
    for (let drains = 1; ; drains++) {
      let count = 0;
      for (const end of this.#ends) count += end.drain();
      if (drains % DRAINS_PER_CLOCK === 0 && performance.now() > until) {
        this.#nextTurn();
        return;
      }
      if (count > 0) continue;
      if (this.#spin.worthwhile && this.#spin.until(this.#ready)) continue;
      if (this.#park()) return;
    }
  }

  #nextTurn(): void {
    if (this.#due) return;
    this.#due = true;
    setImmediate(this.#run);
  }

  /** False when something has come meanwhile. */
  #park(): boolean {
    for (const end of this.#ends) {
      if (end.park()) continue;
      for (const other of this.#ends) other.unpark();
      return false;
    }
    this.#restingSince = performance.now();
    return true;
  }
}
