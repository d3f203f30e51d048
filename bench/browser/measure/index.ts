// The measuring of the benchmark for a page: no Node, no build. ../rivals.ts serves what it loads of others.
//
//     const row = await compare({ subjects: ['millrace-port:loop', 'worker-post'], payload: 'req118', onProgress });
//     const one = await measure({ subject: 'millrace-port:mixed', payload: 'obj500', direction: 'to-worker' });
export {
  type Compared,
  type CompareOptions,
  compare,
  type Measured,
  type MeasureOptions,
  measure,
  type Progress,
} from './measure.ts';
export { type Payload, payloadNamed, payloads } from './payloads.ts';
export { setRivalUrl } from './rivals.ts';
export type { Direction } from './sessions.ts';
export type { PageSubject, Place } from './subject.ts';
export { labelOf, subjectNamed, subjects, whyAbsent } from './subjects.ts';
