// How readers of a topic sleep, any number on one word, and how they are woken: an event count. The writer does not know how many there are,
// and pays one load as long as none of them sleeps.
//
// A reader notes SIGNAL, announces in PARK that somebody is about to sleep, looks again, and sleeps as long as SIGNAL is what it noted.
// Whoever wakes has published before; finds PARK, takes it back, changes SIGNAL, and wakes all.
//
// R1. No lost wake-up. If the announcement came before the load of PARK, all are woken, and who is not asleep yet finds another SIGNAL than it
//     noted. If it came behind it, the reader's second look finds what was published.
// R2. PARK is taken back before SIGNAL changes. So what was noted behind the change is followed by an announcement that stands; and
//     who noted it before is woken, though its announcement may have been taken back with an older one.
// R3. Nobody takes back an announcement because it has woken by itself: it may be another's, too. That costs a wake-up of nobody.
import type { ParkPlace } from '../wait/park-place.ts';
import { PARK, SIGNAL } from './layout.ts';

const ANNOUNCED = 1;
const NOBODY = 0;

// Copies: see frame/header.ts.
const parkWord: number = PARK;

export class TopicBell {
  /** How often it had to wake somebody. */
  wakes = 0;
  readonly #words: Int32Array;
  readonly #place: ParkPlace;

  /** @param place where the readers sleep, on SIGNAL */
  constructor(words: Int32Array, place: ParkPlace) {
    this.#words = words;
    this.#place = place;
  }

  /** Call after what readers look at has been published. One load when nobody sleeps. */
  ring(): void {
    // SYNC topic-announce: ordered after the publication by the caller; pairs with announceReader (R1).
    if (Atomics.load(this.#words, parkWord) !== NOBODY) this.#wake();
  }

  /** The end, which is told by anybody, is told to all: whoever has taken announcements back may have died before it woke anybody. */
  end(): void {
    this.#wake();
  }

  #wake(): void {
    this.wakes++;
    // SYNC topic-announce: taken back before SIGNAL changes (R2); pairs with announceReader.
    Atomics.store(this.#words, PARK, NOBODY);
    // SYNC topic-signal: who noted it before does not sleep; pairs with notedSignal.
    Atomics.add(this.#words, SIGNAL, 1);
    this.#place.wake();
  }
}

/** What SIGNAL is now: to be noted before `announceReader`. */
export function notedSignal(words: Int32Array): number {
  // SYNC topic-signal: pairs with TopicBell.#wake (R2).
  return Atomics.load(words, SIGNAL);
}

/** Says that a reader is about to sleep. It looks again before it does (R1). */
export function announceReader(words: Int32Array): void {
  // SYNC topic-announce: from here on every publication rings; pairs with TopicBell.ring.
  Atomics.store(words, PARK, ANNOUNCED);
}
