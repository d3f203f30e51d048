// Memory that other processes can map, for what is made of it before there is a connection: topics.
import { UnsupportedError } from '../errors.ts';
import { native } from '../native/load.ts';
import { futexParking } from '../transport/process/futex.ts';
import { startTopicWaker } from '../transport/process/topic-waker.ts';
import type { TopicMemorySource, TopicPiece } from '../transport/topic-medium.ts';

/**
 * Where a topic that goes to other processes lies: `createTopic({ memory: processMemory() })`. It has no name, nobody finds it who is not given it, and it is
 * gone with the last process that has it.
 * @throws UnsupportedError where this process has no way to such memory
 */
export function processMemory(): TopicMemorySource {
  const found = native();
  if (found.primitives === undefined) {
    throw new UnsupportedError(
      `Cannot have memory that other processes map: ${found.why}; on Linux, Node takes the addon (npm i @millrace/native-<platform>), Deno --allow-ffi and --allow-sys; or send the messages over a port`,
      { feature: 'memory' },
    );
  }
  const { primitives, from } = found;
  return {
    make(bytes: number): TopicPiece {
      const descriptor = primitives.createMemory(bytes);
      try {
        const mapping = primitives.map(descriptor, bytes);
        primitives.keep(descriptor);
        return {
          buffer: mapping.buffer,
          parking: futexParking(primitives, mapping),
          descriptor,
          startWaker: (plan) => startTopicWaker(primitives, from, descriptor, plan),
          close: () => primitives.close(descriptor),
        };
      } catch (error) {
        primitives.close(descriptor);
        throw error;
      }
    },
  };
}
