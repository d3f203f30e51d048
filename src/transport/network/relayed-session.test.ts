// What a session and the thread of its connection say to each other, in whatever pieces: whole frames go out, both greetings are read, and damage ends it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LayoutError } from '../../errors.ts';
import { FrameWriter } from '../stream/frame-writer.ts';
import * as frames from '../stream/frames.ts';
import { greetingFor, greetingWords } from '../stream/greeting.ts';
import { joined } from '../stream/joined.ts';
import { RESUMES } from './heard.ts';
import { RelayedSession } from './relayed-session.ts';

/** A greeting and some pings, as a connection writes them. */
function said(features: number, pings: number, session?: Uint8Array): Uint8Array {
  const written: Uint8Array[] = [];
  const writer = new FrameWriter({ write: (bytes) => written.push(bytes.slice()) > 0 });
  writer.hello(
    greetingWords(greetingFor({ features, ...(session && { resume: { session, heard: 0 } }) })),
    new Uint8Array(0),
  );
  writer.flush();
  for (let i = 0; i < pings; i++) writer.ping(i, 0);
  return joined(written);
}
function relayed(takes: (count: number) => boolean = () => true) {
  const out: Uint8Array[] = [];
  const log: unknown[] = [];
  const stream = {
    write: (bytes: Uint8Array) => takes(out.push(bytes.slice())),
    met: ({ features }: { features: number }) => log.push(['met', features]),
    lose: (error: Error) => log.push(['lost', error.message]),
    flow: (flows: boolean) => log.push(['flow', flows]),
    end: () => log.push('end'),
  };
  const session = new RelayedSession(stream as never);
  session.connect({
    received: (bytes) => log.push(['received', bytes.length]),
    drained() {},
    closed: (reason) => log.push(['closed', reason]),
    idle: () => log.push('idle'),
  });
  return { session, out, log };
}
const bytesOf = (pieces: readonly Uint8Array[]): string => Buffer.from(joined(pieces)).toString('hex');

test('what the thread says goes on frame by frame, in whatever pieces it comes', () => {
  const all = said(RESUMES, 5);
  for (const size of [1, 3, 8, 16, 63, 64, 65, all.length]) {
    const { session, out } = relayed();
    for (let at = 0; at < all.length; at += size) session.write(all.subarray(at, at + size));
    assert.equal(bytesOf(out), bytesOf([all]), `pieces of ${size}`);
    assert.equal(out.length, 6);
    for (const frame of out) assert.equal(frames.frameBytes(frame), frame.length);
  }
});

test('both greetings are read as they pass, in either order, and what both do is known with the second', () => {
  for (const first of ['own', 'peer']) {
    const { session, log } = relayed();
    const [own, peer] = [said(RESUMES, 0), said(RESUMES | 0x20000, 1, new Uint8Array(16).fill(7))];
    if (first === 'own') session.write(own);
    session.ping();
    for (const byte of peer) session.received(Uint8Array.of(byte));
    if (first === 'peer') session.write(own);
    assert.equal(session.features, RESUMES);
    assert.equal(session.heard, peer.length);
    assert.deepEqual(
      log.filter((it) => (it as unknown[])[0] === 'met'),
      [['met', RESUMES | 0x20000]],
    );
  }
});

test('who is turned down has no session, though both would have taken one', () => {
  const { session } = relayed();
  session.received(said(RESUMES, 0));
  session.write(said(RESUMES, 0));
  assert.equal(session.features, 0);
});

test('a session that has enough says so by saying nothing, until it takes more; damage is said, and ends it', async () => {
  const { session, out, log } = relayed((count) => count < 3);
  session.write(said(RESUMES, 0));
  await null;
  assert.deepEqual(log, ['idle']);
  session.received(said(RESUMES, 0));
  session.ping();
  session.write(said(RESUMES, 0));
  await null;
  assert.equal(log.filter((it) => it === 'idle').length, 1);
  session.drained();
  await null;
  assert.equal(log.filter((it) => it === 'idle').length, 2);
  session.damaged(new LayoutError('odd'));
  const last = out.at(-1) as Uint8Array;
  const [head, channel, code] = new Int32Array(last.buffer) as unknown as [number, number, number];
  assert.deepEqual([frames.typeOf(head), channel, code], [frames.RESET, 0, frames.CODE_DAMAGE]);
  assert.deepEqual(log.at(-1), ['lost', 'odd']);
});
