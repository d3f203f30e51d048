// How two processes come to a ring in common without a port: what millrace/process does at each connection, with nothing around it. It is made
// of modules that the package does not have, and so is for a clone. The worker listens to nobody: it goes to the master's name with memory and a
// bell, and is given the master's bell.
import { randomBytes } from 'node:crypto';
import * as layout from '../../src/memory/layout.ts';
import { openMapped, type Region, regionBytes, writeHeader } from '../../src/memory/region.ts';
import { native } from '../../src/native/load.ts';
import type { Mapping, Primitives } from '../../src/native/primitives.ts';
import { type Bell, makeBell, type Ringer, ringerOf } from '../../src/transport/process/bell.ts';
import { DescriptorLine, type Said } from '../../src/transport/process/descriptor-line.ts';
import { futexParking } from '../../src/transport/process/futex.ts';
import { DoorbellWait, type EventLoopWait } from '../../src/wait/async.ts';
import { DATA, Waker } from '../../src/wait/signal.ts';
import { withDeadline } from '../deadline.ts';

/** One process's side of the memory. */
export interface RingSide {
  readonly region: Region;
  /** Lanes of the region, by number. */
  readonly out: 0 | 1;
  readonly in: 0 | 1;
  /** Wakes the other side when it sleeps for data. */
  readonly waker: Waker;
  /** Sleeps for data. */
  readonly wait: EventLoopWait;
  close(): void;
}

const LOOK_MS = 1;
const COME_MS = 10_000;

/** Why there can be none; undefined where there can. */
export function withoutRing(): string | undefined {
  const found = native();
  return found.primitives === undefined ? found.why : undefined;
}

function primitives(): Primitives {
  const found = native();
  if (found.primitives === undefined) throw new Error(found.why);
  return found.primitives;
}

/** Looks until there is something: no event loop watches a descriptor here. */
async function until<T>(look: () => T | undefined): Promise<T> {
  let waiting = true;
  const looking = async (): Promise<T> => {
    while (waiting) {
      const found = look();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    throw new Error('nobody waits any more');
  };
  try {
    return await withDeadline(looking(), COME_MS, 'the other process did not come');
  } finally {
    waiting = false;
  }
}

interface Parts {
  readonly own: Bell;
  readonly ringer: Ringer;
  readonly line: DescriptorLine;
}

function sideOf(native: Primitives, mapping: Mapping, master: boolean, { own, ringer, line }: Parts): RingSide {
  const region = openMapped(mapping.buffer);
  const { words } = region.views;
  const [here, there] = master ? [layout.SIDE_0, layout.SIDE_1] : [layout.SIDE_1, layout.SIDE_0];
  const parking = futexParking(native, mapping);
  const waker = new Waker(parking.place(words, there + layout.PARK), DATA, () => ringer.ring());
  return {
    region,
    out: master ? 0 : 1,
    in: master ? 1 : 0,
    waker,
    wait: new DoorbellWait(parking.place(words, here + layout.PARK), here + layout.PARKS),
    close: () => {
      own.close();
      ringer.close();
      line.close();
    },
  };
}

/** The master's: `take` once for each worker. */
export class RingMeeting {
  readonly name: string = `millrace-bench-${randomBytes(8).toString('hex')}`;
  readonly #native = primitives();
  readonly #listener = this.#native.listen(`\0${this.name}`);

  /** @param heard called from the event loop when the worker has rung */
  async take(heard: () => void): Promise<RingSide> {
    const native = this.#native;
    const descriptor = await until(() => {
      const found = native.accept(this.#listener);
      return found < 0 ? undefined : found;
    });
    const line = new DescriptorLine(native, descriptor);
    const { words, descriptors } = await until((): Said | undefined => line.take());
    const [memory, bell] = descriptors as readonly [number, number];
    const mapping = native.map(memory, words[0] as number);
    native.close(memory);
    const own = makeBell(native, heard);
    line.say(0, 0, [], [native.duplicate(own.theirs)]);
    return sideOf(native, mapping, true, { own, ringer: ringerOf(native, bell), line });
  }

  close(): void {
    this.#native.close(this.#listener);
  }
}

/** The worker's. @param capacity bytes of each direction */
export async function meetRing(name: string, capacity: number, heard: () => void): Promise<RingSide> {
  const native = primitives();
  const line = new DescriptorLine(native, native.connect(`\0${name}`));
  const bytes = regionBytes(capacity, capacity);
  const memory = native.createMemory(bytes);
  const mapping = native.map(memory, bytes);
  writeHeader(mapping.buffer, capacity, capacity, capacity / 4);
  const own = makeBell(native, heard);
  line.say(0, 0, [bytes], [memory, native.duplicate(own.theirs)]);
  const { descriptors } = await until((): Said | undefined => line.take());
  return sideOf(native, mapping, false, { own, ringer: ringerOf(native, descriptors[0] as number), line });
}
