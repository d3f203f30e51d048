// No descriptor of ours goes along to a program that somebody starts: each is close-on-exec from its first moment.
// needs: native
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { test } from 'node:test';
import { native } from '../kit/native.ts';

const O_CLOEXEC = 0o2000000;
const goesAlong = (descriptor: number): boolean => {
  const [, flags = ''] = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? [];
  return (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
};

if (existsSync('/proc/self/fdinfo')) {
  test('memory, bells, sockets, what is duplicated and what comes over a socket is closed as another program begins', () => {
    const path = `\0millrace-exec-${process.pid}`;
    const ends = new Int32Array(2);
    native.socketPair(ends);
    const [one, other] = ends as unknown as [number, number];
    const memory = native.createMemory(4096);
    const came = new Int32Array(1);
    native.send(one, Uint8Array.of(1), Int32Array.of(memory));
    native.receive(other, new Uint8Array(1), came);
    const listener = native.listen(path);
    const connected = native.connect(path);
    const made = {
      'a pair, one end': one,
      'a pair, the other end': other,
      memory: memory,
      'what came': came[0] as number,
      'a listener': listener,
      'who has connected': connected,
      'who was taken': native.accept(listener),
      'a duplicate': native.duplicate(memory),
      'a bell': native.createBell(),
    };
    try {
      for (const [what, descriptor] of Object.entries(made)) assert.equal(goesAlong(descriptor), false, what);
    } finally {
      for (const descriptor of Object.values(made)) native.close(descriptor);
    }
  });
}
