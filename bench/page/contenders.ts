// The contenders as the page shows them: which are ours, which are native, their colours, and who is asked by default.
import { labelOf, type PageSubject, subjects, whyAbsent } from '../browser/measure/index.ts';

export type Kind = 'ours' | 'native' | 'rival';

export interface Contender {
  readonly name: string;
  readonly label: string;
  readonly kind: Kind;
  /** A custom property of style.css. */
  readonly colour: string;
  /** Asked unless the reader says otherwise. */
  readonly usual: boolean;
  /** Why it cannot take part here. */
  readonly absent: string | undefined;
}

const NATIVE = ['worker-post', 'native-port'];
const USUAL = [
  'millrace-port:loop',
  'millrace-port:mixed',
  'worker-post',
  'native-port',
  'comlink',
  'sab-message-port',
];
const OTHER_COLOURS = 6;

function kindOf(name: string): Kind {
  if (name.startsWith('millrace')) return 'ours';
  return NATIVE.includes(name) ? 'native' : 'rival';
}

/** All of them, with what keeps them away from this page. Loads the rivals. */
export function contenders(): Promise<Contender[]> {
  let others = 0;
  const colours = subjects.map(({ name }) =>
    USUAL.includes(name) ? `--${name.replace(':', '-')}` : `--other-${others++ % OTHER_COLOURS}`,
  );
  return Promise.all(
    subjects.map(async (subject: PageSubject, i) => ({
      name: subject.name,
      label: await labelOf(subject),
      kind: kindOf(subject.name),
      colour: colours[i],
      usual: USUAL.includes(subject.name),
      absent: subject.places.includes('page') ? await whyAbsent(subject) : 'it is for two workers',
    })),
  );
}
