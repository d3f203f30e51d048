// Records of one turn in one frame, where the medium writes once a turn.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STREAM_GATHER_BYTES } from '../../limits.ts';
import { FULL } from '../../ring/producer.ts';
import { FrameReader } from './frame-reader.ts';
import { FrameWriter } from './frame-writer.ts';
import { ACK } from './frames.ts';
import { StreamSink } from './sink.ts';

const WINDOW = 64 * 1024;
const RECORD = 16;

/** A medium that writes when its turn ends, and what a reader makes of that. */
function medium(takes: { beforeWrite: boolean }) {
  const heard: string[] = [];
  let say: (() => void) | undefined;
  let bytes = 0;
  let number = 0;
  const reader = new FrameReader({
    control: (type, channel) => heard.push(`${type === ACK ? 'ACK' : type} ${channel}`),
    dataBegins: (channel) => {
      number = channel;
      bytes = 0;
    },
    data: (_chunk, start, end) => {
      bytes += end - start;
    },
    dataEnds: () => heard.push(`${bytes / RECORD} of ${number}`),
  });
  const writer = new FrameWriter({
    write: (frame) => {
      reader.feed(frame);
      return true;
    },
    beforeWrite: (it) => {
      if (takes.beforeWrite) say = it;
      return takes.beforeWrite;
    },
  });
  writer.flush();
  const endTurn = (): void => {
    const before = say;
    say = undefined;
    before?.();
  };
  const sink = (number: number): StreamSink => {
    const made = new StreamSink(
      WINDOW,
      writer,
      () => {},
      (frame) => writer.whole(frame),
    );
    made.begin(number, WINDOW);
    return made;
  };
  return { heard, writer, endTurn, sink };
}
function send(sink: StreamSink, records = 1, length = RECORD - 8): void {
  for (let i = 0; i < records; i++) {
    assert.notEqual(sink.tryClaim(length), FULL);
    sink.commit(length, 1);
  }
}

test('what a channel sends in one turn is one frame', () => {
  const { heard, endTurn, sink } = medium({ beforeWrite: true });
  const one = sink(1);
  send(one, 5);
  assert.deepEqual(heard, []);
  endTurn();
  assert.deepEqual(heard, ['5 of 1']);
  send(one, 2);
  endTurn();
  endTurn();
  assert.deepEqual(heard, ['5 of 1', '2 of 1']);
});

test('what several channels send comes in the order in which they sent it', () => {
  const { heard, endTurn, sink } = medium({ beforeWrite: true });
  const [one, two] = [sink(1), sink(2)];
  send(one, 2);
  send(two);
  send(one);
  endTurn();
  assert.deepEqual(heard, ['2 of 1', '1 of 2', '1 of 1']);
});

test('what else is said comes behind what was sent before it', () => {
  const { heard, writer, endTurn, sink } = medium({ beforeWrite: true });
  const one = sink(1);
  send(one, 2);
  writer.ack(7, 0, 0, 0, 0, 0);
  send(one);
  one.publish();
  writer.ack(8, 0, 0, 0, 0, 0);
  endTurn();
  assert.deepEqual(heard, ['2 of 1', 'ACK 7', '1 of 1', 'ACK 8']);
});

test('a frame does not grow without bound, and a medium that writes at once is given each record', () => {
  const long = medium({ beforeWrite: true });
  const sink = long.sink(1);
  send(sink, STREAM_GATHER_BYTES / RECORD + 1);
  assert.deepEqual(long.heard, [`${STREAM_GATHER_BYTES / RECORD} of 1`]);
  long.endTurn();
  assert.deepEqual(long.heard.slice(1), ['1 of 1']);

  const atOnce = medium({ beforeWrite: false });
  send(atOnce.sink(1), 3);
  assert.deepEqual(atOnce.heard, ['1 of 1', '1 of 1', '1 of 1']);
});

test('who corks over the end of a turn goes on gathering', () => {
  const { heard, endTurn, sink } = medium({ beforeWrite: true });
  const one = sink(1);
  one.cork(() => {
    send(one, 2);
    endTurn();
    assert.deepEqual(heard, []);
    send(one);
  });
  endTurn();
  assert.deepEqual(heard, ['3 of 1']);
});
