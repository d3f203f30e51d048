// What every codec keeps to, whatever it carries (src/codec/codec.ts). What the packed codec carries: test/codec.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Codec, type Memory, NO_ROOM, REFUSED } from '../../src/codec/codec.ts';
import { CodecError, DataCloneError } from '../../src/index.ts';
import { viewsOf } from '../../src/memory/region.ts';
import { eachCase } from '../kit/prng.ts';
import { difference } from '../kit/same-clone.ts';

/** @param values what the codec carries exactly; others it may refuse */
export function codecConformance(codec: Codec, values: readonly unknown[]): void {
  const memory: Memory = viewsOf(new SharedArrayBuffer(64 * 1024));
  const { name } = codec;

  test(`${name}: values come back equal, at any offset that is a multiple of 8, and in the order they went`, () => {
    for (const offset of [0, 8, 4000]) {
      const encoder = codec.createEncoder();
      const decoder = codec.createDecoder();
      for (const value of [...values, ...values]) {
        const length = encoder.encodeInto(value, memory, offset, 32_768, true);
        assert.ok(length >= 0);
        assert.equal(difference(value, decoder.decode(memory, offset, length)), undefined);
      }
    }
  });

  test(`${name}: with too little room it answers NO_ROOM, has learned nothing, and never writes past its limit`, () => {
    const encoder = codec.createEncoder();
    const decoder = codec.createDecoder();
    for (const value of [...values, ...values]) {
      const whole = codec.createEncoder().encodeInto(value, memory, 0, 32_768, true);
      for (const limit of new Set([0, 1, whole >>> 1, whole - 1].filter((it) => it >= 0 && it < whole))) {
        memory.bytes.fill(0xa5, 8 + limit, 8 + limit + 64);
        const length = encoder.encodeInto(value, memory, 8, limit, true);
        for (let i = 0; i < 64; i++) assert.equal(memory.bytes[8 + limit + i], 0xa5, `${name} wrote past ${limit}`);
        if (length === NO_ROOM) continue;
        // It may know the value well enough by now to need less.
        assert.ok(length >= 0 && length <= limit);
        assert.equal(difference(value, decoder.decode(memory, 8, length)), undefined);
      }
      const length = encoder.encodeInto(value, memory, 8, 32_768, true);
      assert.equal(difference(value, decoder.decode(memory, 8, length)), undefined);
    }
  });

  test(`${name}: a payload that taught nothing may be dropped`, () => {
    const encoder = codec.createEncoder();
    const decoder = codec.createDecoder();
    for (const value of [...values, ...values, ...values]) {
      encoder.encodeInto(value, memory, 0, 32_768, false);
      const length = encoder.encodeInto(value, memory, 0, 32_768, true);
      assert.equal(difference(value, decoder.decode(memory, 0, length)), undefined);
    }
  });

  test(`${name}: what it refuses or throws for changes nothing for the next value`, () => {
    const encoder = codec.createEncoder();
    const decoder = codec.createDecoder();
    for (const value of values) {
      for (const bad of [() => 1, Symbol('s')]) {
        try {
          assert.equal(encoder.encodeInto(bad, memory, 0, 32_768, true), REFUSED);
        } catch (error) {
          assert.ok(error instanceof DataCloneError, String(error));
        }
      }
      const length = encoder.encodeInto(value, memory, 0, 32_768, true);
      assert.equal(difference(value, decoder.decode(memory, 0, length)), undefined);
    }
  });

  test(`${name}: a damaged payload is a CodecError, and the next one still comes`, () => {
    eachCase(0, 2000, (random) => {
      const encoder = codec.createEncoder();
      const decoder = codec.createDecoder();
      const length = encoder.encodeInto(random.pick(values), memory, 0, 32_768, false);
      for (let i = random.int(1, 6); i > 0; i--) memory.bytes[random.int(0, length)] = random.bits();
      try {
        decoder.decode(memory, 0, random.chance(0.5) ? length : random.int(0, length + 64));
      } catch (error) {
        assert.ok(error instanceof CodecError, String(error));
      }
      const good = random.pick(values);
      const next = encoder.encodeInto(good, memory, 0, 32_768, false);
      assert.equal(difference(good, decoder.decode(memory, 0, next)), undefined);
    });
  });
}
