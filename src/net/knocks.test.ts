import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Knocks } from './knocks.ts';
import type { Session } from './sessions.ts';

test('of a session it is asked once at a time; of those that come meanwhile the newest is next, and the others go', async () => {
  const knocks = new Knocks();
  const said: string[] = [];
  let answer = (): void => {};
  const come = (session: Session, name: string): void =>
    knocks.come(session, {
      ask: () => {
        said.push(`${name} asks`);
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
      drop: () => void said.push(`${name} goes`),
    });
  const [one, other] = [{}, {}] as [Session, Session];
  for (const name of ['a', 'b', 'c', 'd']) come(one, name);
  const answerA = answer;
  come(other, 'x');
  assert.deepEqual(said.splice(0), ['a asks', 'b goes', 'c goes', 'x asks']);
  answerA();
  await new Promise(setImmediate);
  assert.deepEqual(said.splice(0), ['d asks']);
  answer();
  await new Promise(setImmediate);
  come(one, 'e');
  assert.deepEqual(said, ['e asks']);
});
