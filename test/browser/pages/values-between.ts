// Kinds of values from one worker to another that blocks: what the codec writes comes at once; of what only the runtime carries the one who
// blocks is told at once, and its event loop gets it.
import * as millrace from '../../../src/index.ts';
import { check, equal, ok, within } from './checks.ts';
import { BESIDE, IN_PARTS, IN_RING, isHere, type Kind, MOVED, nativeEcho, ONLY_NATIVELY } from './kinds.ts';
import { startThread } from './thread.ts';

const native = nativeEcho();
const CARRIED: readonly (readonly [string, Kind | undefined])[] = [
  ...Object.entries(IN_RING),
  ...IN_PARTS.map((name) => [name, BESIDE[name]] as const),
  ['moved ArrayBuffer', MOVED['ArrayBuffer']],
];

for (const [group, fate, kinds] of [
  ['what the codec carries', 'came', CARRIED],
  ['what only the runtime carries', 'ERR_UNSUPPORTED', ONLY_NATIVELY],
] as const) {
  check(`from a worker to one that blocks: ${group}`, async () => {
    const values: unknown[] = [];
    const moved: unknown[] = [];
    const expected: string[] = [];
    for (const [name, kind] of kinds) {
      if (!isHere(kind)) continue;
      const same = await kind.make();
      const tag = await native(same, kind.moves ? [same] : []).catch((error: Error) => error.name);
      // What no worker can have, or this task's end takes the right to move from.
      if (!tag.startsWith('[') || name.endsWith('RTCDataChannel')) continue;
      const value = await kind.make();
      values.push(value);
      if (kind.moves) moved.push(value);
      expected.push(`${name}: ${fate} ${Object.prototype.toString.call(value)}`);
    }
    const names = expected.map((line) => line.slice(0, line.indexOf(':')));
    ok(names.length > 10, `only ${names.length} kinds`);

    const [one, other] = millrace.pair();
    const writer = startThread(
      async ({ port, hear }) => {
        const p = port();
        await p.ready;
        const [values, moved] = await hear<[unknown[], unknown[]]>();
        for (const value of values) {
          p.receive();
          p.postMessage(value, moved.includes(value) ? [value as never] : []);
        }
      },
      { remote: one },
    );
    const reader = startThread(
      async ({ port, data }) => {
        const p = port();
        await p.ready;
        const fates: string[] = [];
        for (const name of data as string[]) {
          let told = 'came';
          let value: unknown;
          // Its event loop has no turn between this and the value.
          p.postMessage('next');
          try {
            value = p.receive();
          } catch (error) {
            told = (error as { code: string }).code;
            value = await p.receiveAsync();
          }
          fates.push(`${name}: ${told} ${Object.prototype.toString.call(value)}`);
        }
        return fates;
      },
      { remote: other, data: names },
    );
    writer.tell([values, moved], moved);
    const fates = (await within(
      'all of them',
      Promise.race([reader.result, writer.result.then(() => reader.result)]),
      15,
    )) as string[];
    equal(fates.join('\n'), expected.join('\n'));
  });
}
