import { codecOfName } from '../../src/codec/choose.ts';
import { codecConformance } from './codec.ts';

const PLAIN = [null, true, 0, 1.5, 'text', 'λ😀', [], [1, [2]], {}, { a: 1, b: { c: ['d'] } }, 'x'.repeat(3000)];

codecConformance(codecOfName('json'), PLAIN);
codecConformance(codecOfName('packed'), [
  ...PLAIN,
  ...[undefined, -0, Number.NaN, 10n ** 30n, '\ud800', new Date(5), /x/g, new Map([[1, { a: 1 }]]), new Set(['s'])],
  ...[new Uint8Array([1, 2]), new Float64Array([0.5]), new ArrayBuffer(3), new RangeError('r'), Object(1n)],
]);
