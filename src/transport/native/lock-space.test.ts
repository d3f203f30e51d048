// Which threads find out that they have the same locks, with locks that are played: several threads, of which some are gone before another one looks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentLocks } from '../../platform/contract.ts';
import { LockSpace } from './lock-space.ts';

interface Played {
  readonly space: LockSpace;
  hold(): void;
  name(): string;
  kill(): void;
}
let threads = 0;

/** An origin's in one storage: what is held there. Answers come when `answer` is called, as requests of other threads do. */
class Storage {
  readonly held = new Set<string>();
  #asked: ((names: readonly string[]) => void)[] = [];

  thread(): Played {
    const mine = new Set<string>();
    const locks: AgentLocks = {
      mortal: true,
      outlives: false,
      available: true,
      hold: (name, held) => {
        mine.add(name);
        this.held.add(name);
        held();
        return () => this.held.delete(name);
      },
      await: () => assert.fail('that is asked for by others'),
      names: (then) => void this.#asked.push(then),
    };
    const space = new LockSpace(locks, `thread-${++threads}`);
    let name = '';
    return {
      space,
      hold: () => {
        space.names((names) => {
          name = `${names}1`;
          locks.hold(
            name,
            () => {},
            () => {},
          );
        });
      },
      name: () => name,
      kill: () => {
        for (const name of mine) this.held.delete(name);
      },
    };
  }
  answer(): void {
    const names = [...this.held];
    for (const then of this.#asked.splice(0)) then(names);
  }
}
/** A question, and its answer once it is known. */
function asks(space: LockSpace, name: string): { included?: boolean } {
  const question: { included?: boolean } = {};
  space.includes(name, (included) => {
    question.included = included;
  });
  return question;
}

test('a worker is gone before the page that has made its channel hears its name', () => {
  const storage = new Storage();
  const [page, worker] = [storage.thread(), storage.thread()];
  page.space.show();
  worker.hold();
  storage.answer();
  worker.kill();
  assert.equal(asks(page.space, worker.name()).included, true);
});

test('one of two workers is gone before the other one begins, and only their page has seen both', () => {
  const storage = new Storage();
  const [page, one, other] = [storage.thread(), storage.thread(), storage.thread()];
  page.space.show();
  one.hold();
  storage.answer();
  one.kill();
  other.hold();
  storage.answer();
  assert.equal(asks(other.space, one.name()).included, true);
});

test('a page shows itself at once, also while it asks what its locks are called', () => {
  const storage = new Storage();
  const [page, worker] = [storage.thread(), storage.thread()];
  page.hold();
  page.space.show();
  assert.equal(storage.held.size, 1);
  worker.hold();
  storage.answer();
  const { thread } = page.space;
  assert.deepEqual([page.name(), worker.name()].map(spaceOf), [thread, thread]);
});
const spaceOf = (name: string): string | undefined => name.split('/')[2];

test('two that began at the same time have a space each, and find out by what is held', () => {
  const storage = new Storage();
  const [one, other] = [storage.thread(), storage.thread()];
  one.hold();
  other.hold();
  storage.answer();
  // The third one has seen both, and knows them when they are gone.
  const third = storage.thread();
  third.hold();
  storage.answer();
  const question = asks(other.space, one.name());
  assert.equal(question.included, undefined);
  storage.answer();
  assert.equal(question.included, true);
  one.kill();
  other.kill();
  assert.equal(asks(third.space, one.name()).included, true);
  assert.equal(asks(third.space, other.name()).included, true);
});

test('a lock of another storage is not included, however often it is looked for', () => {
  const [storage, elsewhere] = [new Storage(), new Storage()];
  const [page, worker] = [storage.thread(), elsewhere.thread()];
  page.space.show();
  worker.hold();
  elsewhere.answer();
  for (let i = 0; i < 2; i++) {
    const question = asks(page.space, worker.name());
    storage.answer();
    assert.equal(question.included, false);
  }
});

test("a thread's own locks, and names that are no names, are not included", () => {
  const storage = new Storage();
  const page = storage.thread();
  page.hold();
  storage.answer();
  for (const name of [page.name(), '', 'somebody', page.name().replace('millrace', 'somebody')]) {
    assert.equal(asks(page.space, name).included, false);
  }
});
