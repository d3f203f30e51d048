// What is sent. A worker makes its own pool by the same specification.
import type { LoadSpec } from '../../loads.ts';

export interface Payload {
  readonly name: string;
  readonly label: string;
  readonly spec: LoadSpec;
  /** Of one message as JSON text, or of its bytes or characters. */
  readonly bytes: number;
}

const MILLION = 1_000_000;

export const payloads: readonly Payload[] = [
  { name: 'req118', label: '118 B object', spec: { form: 'object', size: 0, value: 'req118' }, bytes: 118 },
  { name: 'text118', label: '118 B text', spec: { form: 'string', size: 118 }, bytes: 118 },
  { name: 'obj500', label: '500 B object', spec: { form: 'object', size: 0, value: 'obj500' }, bytes: 500 },
  { name: 'block64k', label: '64 KiB block', spec: { form: 'bytes', size: 64 << 10 }, bytes: 64 << 10 },
  {
    name: 'text3m',
    label: '3 MB text, new each time',
    spec: { form: 'string', size: 3 * MILLION, fresh: true },
    bytes: 3 * MILLION,
  },
  {
    name: 'text3m-again',
    label: '3 MB text, the same again',
    spec: { form: 'string', size: 3 * MILLION, distinct: 1 },
    bytes: 3 * MILLION,
  },
];

export function payloadNamed(name: string): Payload {
  const found = payloads.find((payload) => payload.name === name);
  if (found) return found;
  throw new RangeError(`no payload is called ${name}; there are ${payloads.map((payload) => payload.name).join(', ')}`);
}
