// Topics and requests through servers between programs.
// asked for: node-22, node-24
// watchdog: 300 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import {
  AddressError,
  CLOSED,
  ClosedError,
  DataCloneError,
  EMPTY,
  RefusedError,
  TimeoutError,
  UsageError,
} from '../../src/index.ts';
import { overEngines } from '../kit/engines.ts';
import { rejection } from '../kit/rejection.ts';
import { until, within } from '../kit/watchdog.ts';

overEngines((way) => {
  test(`${way.name}: what is published is heard by all who listen, by name and by pattern, packed and as JSON`, async () => {
    const [here, there] = (await way.open(2)) as [Engine, Engine];
    const exact = await there.subscribe('prices.eu.abc');
    const one = await there.subscribe('prices.*.abc');
    const all = await there.subscribe('prices.>');
    const other = await there.subscribe('prices.us.*');
    const values = [{ price: 41 }, new Map([[1n, new Date(0)]]), null, undefined, 'x'.repeat(700_000)];
    const packed = here.topic('prices.eu.abc');
    const json = here.topic('prices.eu.xyz', { codec: 'json' });
    for (const value of values) packed.publish(value);
    json.publish({ in: ['another', 'language'] });
    await packed.flush();
    for (const reader of [exact, one])
      for (const value of values) assert.deepEqual(await within('a message', reader.receiveAsync()), value);
    const entries = all.entries();
    for (const value of values) assert.deepEqual((await within('one', entries.next())).value, ['prices.eu.abc', value]);
    assert.deepEqual((await within('one', entries.next())).value, ['prices.eu.xyz', { in: ['another', 'language'] }]);
    assert.equal(other.tryReceive(), EMPTY);
    for (const reader of [exact, one, all, other]) {
      assert.deepEqual([reader.missed, reader.stats().doubled, reader.stats().strange], [0, 0, 0]);
      const pending = reader.receiveAsync();
      reader.close();
      assert.equal(await within('the end', pending), CLOSED);
      assert.equal(reader.tryReceive(), CLOSED);
    }
    assert.deepEqual(packed.stats(), { published: values.length, unsent: 0 });
  });

  test(`${way.name}: a reader that is slow misses the oldest, or all but the newest, and is told how many`, async () => {
    const [here, there] = (await way.open(2)) as [Engine, Engine];
    const told: [number, string][] = [];
    const onMissed = (count: number, topic: string): void => void told.push([count, topic]);
    const skips = await there.subscribe('slow', { capacity: 10, onMissed });
    const newest = await there.subscribe('slow', { slow: 'newest' });
    const last = await there.subscribe('slow', { capacity: 1000 });
    const topic = here.topic('slow');
    for (let i = 0; i < 100; i++) topic.publish(i);
    for (let i = 0; i < 100; i++) assert.equal(await within('a message', last.receiveAsync()), i);
    await until('it to have had its turn', () => skips.missed === 90);
    for (let i = 90; i < 100; i++) assert.equal(await within('a message', skips.receiveAsync()), i);
    assert.deepEqual(told, [[90, 'slow']]);
    assert.equal(await within('a message', newest.receiveAsync()), 99);
    assert.equal(newest.missed, 99);
    assert.equal(await newest.receiveAsync({ timeoutMs: 1 }), EMPTY);
    assert.equal(await rejection(newest.receiveAsync({ signal: AbortSignal.abort('no') })), 'no');
    for (const reader of [skips, newest, last]) reader.close();
  });

  test(`${way.name}: what was published while there was no server is missed, and counted on both sides`, async () => {
    const [here, there] = (await way.open(2)) as [Engine, Engine];
    const told: number[] = [];
    const reader = await there.subscribe('gap', { onMissed: (count) => told.push(count) });
    const topic = here.topic('gap');
    topic.publish('before');
    assert.equal(await within('a message', reader.receiveAsync()), 'before');
    await way.server.kill();
    await until('it to be noticed', () => !here.driver.up && !there.driver.up);
    for (let i = 0; i < 5; i++) topic.publish(i);
    await way.server.start();
    await within('the server', Promise.all([here.driver.ready(), there.driver.ready()]));
    // What listens is told to the server anew; until then nobody hears.
    await until('somebody to listen', () => {
      topic.publish('after');
      return reader.stats().received > 1 || reader.tryReceive() !== EMPTY;
    });
    assert.ok((told[0] ?? 0) >= 5, String(told));
    assert.equal(topic.stats().unsent, 5);
    reader.close();
  });

  test(`${way.name}: what is no message, and what comes twice, is counted, and nothing else happens`, async () => {
    const [here, there] = (await way.open(2)) as [Engine, Engine];
    const reader = await there.subscribe('odd.>');
    const heard: Uint8Array[] = [];
    const watching = await here.driver.subscribe('millrace.topic.odd.twice', (bytes) => void heard.push(bytes));
    const topic = here.topic('odd.twice');
    topic.publish(1);
    await until('it to be heard', () => heard.length === 1);
    const texts = ['', 'x', '{', 'null', '5', '{"v":1}', '{"v":1,"from":"no","n":0}'];
    const odd = [...texts, `{"v":1,"from":"${'a'.repeat(32)}","n":-1}`].map((text) => new TextEncoder().encode(text));
    const torn = (heard[0] as Uint8Array).slice();
    torn[20] = 200;
    // Of the value behind the first head of it.
    torn[40] = 255;

    for (const bytes of [...odd, new Uint8Array(32), heard[0] as Uint8Array, torn])
      here.driver.publish('millrace.topic.odd.twice', bytes);
    topic.publish(2);
    assert.equal(await within('a message', reader.receiveAsync()), 1);
    const got: unknown[] = [];
    while (got.at(-1) !== 2)
      got.push(
        await within(
          'a message',
          reader.receiveAsync().catch((error) => error.code),
        ),
      );
    assert.deepEqual(got, ['ERR_DECODE', 2]);

    const { strange, doubled, missed } = reader.stats();
    assert.deepEqual([strange, doubled, missed], [odd.length + 1, 1, 0]);
    // An error of which nothing is a text, to who reads, who answers and who asks.
    const mad = (from: string, n: number): Uint8Array =>
      new TextEncoder().encode(
        `{"v":1,"from":"${from}","n":${n},"error":{"name":{"toString":1},"message":{"toString":1,"valueOf":1}}}`,
      );
    await there.serve('odd.sum', () => 'still');
    const asks = await here.driver.share('millrace.call.odd.ask', (bytes) => {
      const { from, n } = JSON.parse(new TextDecoder().decode(bytes)) as { from: string; n: number };
      here.driver.publish(`millrace.reply.${from}`, mad(from, n));
    });
    const asked = await within('an answer', rejection(there.request('odd.ask', 1, { codec: 'json' })));
    assert.ok(asked instanceof Error && asked.message === '', String(asked));
    await here.driver.tellOne('millrace.call.odd.sum', mad('b'.repeat(32), 0));
    here.driver.publish('millrace.topic.odd.twice', mad('b'.repeat(32), 0));
    await until('it to be counted', () => reader.stats().strange === odd.length + 2);
    assert.equal(await within('an answer', here.request('odd.sum', 1)), 'still');
    asks.close();
    reader.close();
    watching.close();
  });

  test(`${way.name}: a request goes to one of those who answer, and nobody at all is said at once`, async () => {
    const [here, there, asking] = (await way.open(3)) as [Engine, Engine, Engine];
    const nobody = await rejection(asking.request('sum', [1, 2]));
    assert.ok(nobody instanceof AddressError && nobody.code === 'ERR_UNREACHABLE', String(nobody));
    const counts = [0, 0];
    const add = (who: number) => (values: number[]) => {
      counts[who] = (counts[who] ?? 0) + 1;
      return values.reduce((a, b) => a + b);
    };
    const first = await here.serve('sum', add(0));
    const second = await there.serve('sum', add(1));
    const asked = Array.from({ length: 200 }, (_, i) => asking.request<number>('sum', [i, 1]));
    assert.deepEqual(
      await within('the answers', Promise.all(asked)),
      asked.map((_, i) => i + 1),
    );
    const [one = 0, two = 0] = counts;
    assert.equal(one + two, 200);
    assert.ok(one > 0 && two > 0, `${one} and ${two}`);
    assert.equal(await within('an answer', asking.request('sum', [4, 5], { codec: 'json' })), 9);
    await first.close();
    assert.equal(await within('an answer', asking.request('sum', [1, 1])), 2);
    await second.close();
    assert.ok((await rejection(asking.request('sum', [1]))) instanceof AddressError);
  });

  test(`${way.name}: what is thrown there is thrown here, late, busy and lost are told apart, and large answers come`, async () => {
    const [here, asking] = (await way.open(2)) as [Engine, Engine];
    let release: (value: unknown) => void = () => {};
    const answers: Record<string, () => unknown> = {
      throws: () => {
        throw new RangeError('out of it');
      },
      function: () => () => {},
      large: () => new Uint8Array(3_000_000).fill(5),
      waits: () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    };
    const served = await here.serve('odd', (what: string) => answers[what]?.(), { concurrency: 1 });
    const freed = async (): Promise<void> => {
      release('too late');
      await until('it to be free', () => served.pending === 0);
    };
    for (const codec of ['packed', 'json'] as const) {
      const thrown = await rejection(asking.request('odd', 'throws', { codec }));
      assert.deepEqual([(thrown as Error).name, (thrown as Error).message], ['RangeError', 'out of it']);
    }
    assert.ok((await rejection(asking.request('odd', 'function'))) instanceof DataCloneError);
    assert.equal(((await within('an answer', asking.request('odd', 'large'))) as Uint8Array).length, 3_000_000);
    const waiting = asking.request('odd', 'waits');
    await until('it to be asked', () => served.pending === 1);
    for (const codec of ['packed', 'json'] as const) {
      const busy = await rejection(asking.request('odd', 'waits', { codec }));
      assert.ok(busy instanceof RefusedError, String(busy));
    }
    release('at last');
    assert.equal(await within('the answer', waiting), 'at last');
    const late = await rejection(asking.request('odd', 'waits', { timeoutMs: 50 }));
    assert.ok(late instanceof TimeoutError, String(late));
    await freed();
    const controller = new AbortController();
    const aborted = rejection(asking.request('odd', 'waits', { signal: controller.signal }));
    await until('it to be asked', () => served.pending === 1);
    controller.abort('enough');
    assert.equal(await aborted, 'enough');
    await freed();
    assert.ok((await rejection(asking.request('odd', new Uint8Array(300_000)))) instanceof UsageError);
    assert.ok((await rejection(asking.request('odd', 1, { timeout: 1 } as never))) instanceof UsageError);
    assert.ok((await rejection(asking.serve('odd', 5 as never))) instanceof UsageError);
    assert.ok((await rejection(asking.subscribe('a..b'))) instanceof UsageError);
    assert.throws(() => asking.topic('a.*'), UsageError);
    assert.throws(() => asking.topic('a').publish(() => {}), DataCloneError);
    const lost = rejection(asking.request('odd', 'waits'));
    await until('it to be asked', () => served.pending === 1);
    await way.server.kill();
    const error = await lost;
    assert.ok(error instanceof ClosedError && error.reason === 'lost', String(error));
    await way.server.start();
    release(1);
    await within('its end', served.close());
  });

  test(`${way.name}: what is open ends with the engine`, async () => {
    const [here, there] = (await way.open(2)) as [Engine, Engine];
    const reader = await here.subscribe('ends');
    const pending = reader.receiveAsync();
    await there.serve('ends', () => new Promise(() => {}));
    const asked = rejection(here.request('ends', 1));
    await here.close();
    assert.equal(await within('its end', pending), CLOSED);
    const error = await asked;
    assert.ok(error instanceof ClosedError, String(error));
    const calls = [here.request('ends', 1, { timeoutMs: 5000 }), here.subscribe('ends'), here.queue('ends')];
    for (const said of await Promise.all(calls.map((call) => rejection(call))))
      assert.match(String(said), /closed|lost/i);
    assert.throws(() => here.topic('ends'), ClosedError);
    await here.close();
  });
});
