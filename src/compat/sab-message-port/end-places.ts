// Which words of the shared memory belong to an end.
import type { PipeMemory } from './layout.ts';

/** Word indices of what an end looks at. */
export interface EndPlaces {
  readonly park: number;
  readonly sleeps: number;
  readonly peerPark: number;
  /** STATUS of each pipe of this end. */
  readonly statuses: readonly number[];
  readonly life: readonly number[];
  readonly peerLife: readonly number[];
}

/** The places of one end of a pipe that stands alone. */
export function pipePlaces(role: 'w' | 'r', memory: PipeMemory): EndPlaces {
  const statuses = [memory.status];
  return role === 'w'
    ? {
        park: memory.writerPark,
        sleeps: memory.writerSleeps,
        peerPark: memory.readerPark,
        statuses,
        life: [memory.writerLife],
        peerLife: [memory.readerLife],
      }
    : {
        park: memory.readerPark,
        sleeps: memory.readerSleeps,
        peerPark: memory.writerPark,
        statuses,
        life: [memory.readerLife],
        peerLife: [memory.writerLife],
      };
}
