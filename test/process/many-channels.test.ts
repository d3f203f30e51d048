// Many channels over one connection to another process: each with memory, none with a descriptor, and the page that it has used and no more. SOAK=1 opens ten thousand.
// watchdog: 120 s
// asked for: node-22, node-26
// needs: native
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { test } from 'node:test';
import { fork, type Port, type PortLink } from '../../src/process/index.ts';
import { until, within } from '../kit/watchdog.ts';

const SOAK = process.env['SOAK'] === '1';
const COUNT = SOAK ? 10_000 : 500;
/** Opened at a time: fewer than may wait over there. */
const OPENING = 100;
const CAPACITY = 16 << 10;

const descriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
const regions = (): number => readFileSync('/proc/self/maps', 'utf8').split('memfd:millrace').length - 1;
const sharedBytes = (): number =>
  1024 * Number(/^RssShmem:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);

test(`${COUNT} channels: each answers, takes no descriptor, and ends with its connection`, async () => {
  const { port, child } = fork(new URL('./memory-child.js', import.meta.url), { args: ['channels'] });
  await within('a child', port.ready);
  const pids = [process.pid, child.pid as number];
  const had = pids.map(descriptors);
  const before = { regions: regions(), shared: sharedBytes() };
  const ports: Port[] = [];
  while (ports.length < COUNT) {
    const some = Array.from({ length: OPENING }, (_, i) =>
      (port.link as PortLink).channel(`${ports.length + i}`, { capacityBytes: CAPACITY }),
    );
    await within('some channels', Promise.all(some.map((each) => each.ready)));
    ports.push(...some);
  }
  assert.ok(ports.every((each) => each.stats().way?.name === 'memory'));
  // A runtime opens some of its own.
  const few = (): boolean => pids.every((pid, i) => descriptors(pid) <= (had[i] as number) + COUNT / 100);
  await until('no descriptor is a channel’s', few);
  assert.equal(regions() - before.regions, COUNT);
  for (const [i, each] of ports.entries()) each.postMessage(i);
  for (const [i, each] of ports.entries()) assert.equal(await within('an answer', each.receiveAsync()), i);
  const pages = (sharedBytes() - before.shared) / COUNT;
  assert.ok(pages <= 2 * CAPACITY, `${pages} bytes a channel`);
  port.link?.close();
  const ends = await within('the ends', Promise.all(ports.map((each) => each.closed)));
  assert.ok(ends.every((reason) => reason === 'closed'));
  await within(
    'the child',
    new Promise((resolve) => (child.exitCode === null ? child.once('exit', resolve) : resolve(0))),
  );
});
