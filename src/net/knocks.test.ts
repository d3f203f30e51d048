import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SESSION_QUESTIONS_MAX } from '../limits.ts';
import { Knocks } from './knocks.ts';
import type { Session } from './sessions.ts';

test('of a session it is asked a few times at once; of those that come then the newest is next, and the others go', async () => {
  const knocks = new Knocks();
  const said: string[] = [];
  const answers: (() => void)[] = [];
  const come = (session: Session, name: string): void =>
    knocks.come(session, {
      ask: () => {
        said.push(`${name} asks`);
        return new Promise((resolve) => void answers.push(resolve));
      },
      drop: () => void said.push(`${name} goes`),
    });
  const [one, other] = [{}, {}] as [Session, Session];
  // One that hangs keeps nobody out.
  for (let i = 0; i < SESSION_QUESTIONS_MAX; i++) come(one, 'hangs');
  assert.equal(said.splice(0).length, SESSION_QUESTIONS_MAX);
  for (const name of ['a', 'b', 'c']) come(one, name);
  come(other, 'x');
  assert.deepEqual(said.splice(0), ['a goes', 'b goes', 'x asks']);
  answers[1]?.();
  await new Promise(setImmediate);
  assert.deepEqual(said.splice(0), ['c asks']);
  come(one, 'd');
  assert.deepEqual(said.splice(0), []);
  for (const answer of answers) answer();
  await new Promise(setImmediate);
  assert.deepEqual(said.splice(0), ['d asks']);
  for (const answer of answers) answer();
  await new Promise(setImmediate);
  come(one, 'e');
  assert.deepEqual(said, ['e asks']);
});
