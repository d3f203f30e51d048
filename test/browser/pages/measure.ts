// The benchmark's measuring in a page: every contender delivers what was sent. Nothing is judged by its speed.
import { compare, measure, type PageSubject, type Place, subjects } from '../../../bench/browser/measure/index.ts';
import { check, equal, ok } from './checks.ts';

const SHORT = { rounds: 2, millis: 2, warmMs: 2 };

const namesIn = (place: Place, also: (subject: PageSubject) => boolean = () => true): string[] =>
  subjects.filter((subject) => subject.places.includes(place) && also(subject)).map(({ name }) => name);
const speaksOneWay = ({ name }: PageSubject): boolean => name !== 'comlink';

async function compared(options: Parameters<typeof compare>[0]): Promise<void> {
  const { results, absent } = await compare({ ...SHORT, ...options });
  // Who has not run `npm ci --prefix bench` has no Comlink.
  equal(
    absent.filter(({ subject }) => subject !== 'comlink'),
    [],
  );
  equal(
    results.map(({ subject, checked, note }) => ({ subject, checked, note })),
    options.subjects
      .filter((name) => absent.every(({ subject }) => subject !== name))
      .map((subject) => ({ subject, checked: true, note: undefined })),
  );
}

check('round trips with all contenders, in turns', () => compared({ subjects: namesIn('page'), payload: 'req118' }));
check('many messages at once', () => compared({ subjects: namesIn('page'), payload: 'text118', batch: 16 }));
check('after a rest', () => compared({ subjects: namesIn('page'), payload: 'req118', pauseMs: 1 }));
check('between two workers', () => compared({ subjects: namesIn('workers'), payload: 'req118' }));
check('one way to a worker', () =>
  compared({ subjects: namesIn('page'), payload: 'obj500', direction: 'to-worker', trips: 200 }),
);
check('one way to the page', () =>
  compared({ subjects: namesIn('page', speaksOneWay), payload: 'obj500', direction: 'to-page', trips: 200 }),
);
for (const name of ['millrace-port:loop', 'millrace-port:mixed'])
  check(`large texts, ${name}`, () =>
    compared({ subjects: [name], payload: 'text3m', direction: 'delivery', trips: 1 }),
  );
check('blocks', () =>
  compared({ subjects: ['millrace-port:loop', 'worker-post'], payload: 'block64k', direction: 'to-page', trips: 4 }),
);

check('one contender, told of its progress', async () => {
  const shares: number[] = [];
  const found = await measure({
    ...SHORT,
    subject: 'millrace-port:loop',
    payload: 'req118',
    trips: 10,
    onProgress: ({ share }) => shares.push(share),
  });
  ok(found.checked && found.median > 0 && found.perSecond > 0, JSON.stringify(found));
  ok(shares.length > 2 && shares.every((share, i) => share >= (shares[i - 1] ?? 0)), `${shares}`);
});

check('measuring ends when it is told so', async () => {
  const controller = new AbortController();
  const onProgress = (): void => controller.abort(new Error('enough'));
  const { results } = await compare({
    subjects: ['worker-post'],
    payload: 'req118',
    rounds: 1000,
    onProgress,
    signal: controller.signal,
  });
  ok((results[0]?.samples.length ?? 0) < 1000, 'it went on');
});
