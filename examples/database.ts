// An asynchronous database, read by a program that is not: a worker has it, and each call stands still until it has answered. Rows come one by one to a for loop,
// a comparison is asked back while this thread stands still, a transaction stays over there, and an error is of its class.
import assert from 'node:assert/strict';
import { spawn } from '../src/index.ts';
import { wrapSync } from '../src/rpc/index.ts';
import { green, heading, isProgram, say } from './screen.ts';
import type { Database } from './workers/database.ts';
import { NoSuchTable } from './workers/database-errors.ts';

export function database(): void {
  heading('An asynchronous database, read synchronously');

  const { port } = spawn(new URL('./workers/database.js', import.meta.url));
  const db = wrapSync<Database>(port, { timeoutMs: 30_000 });

  db.create('people');
  const transaction = db.begin();
  for (const [id, name] of ['Grace', 'Ada', 'Barbara'].entries()) transaction.insert('people', { id, name });
  assert.equal(db.get('people', 1), undefined);
  assert.equal(transaction.commit(), 3);
  say(`${green('ok')}  db.get('people', 1).name is ${db.get('people', 1)?.name}`);

  const names: string[] = [];
  for (const { name } of db.all('people')) names.push(name);
  assert.deepEqual(names, ['Grace', 'Ada', 'Barbara']);
  const sorted = db.sorted('people', (a, b) => (a.name < b.name ? -1 : 1)).map(({ name }) => name);
  assert.deepEqual(sorted, ['Ada', 'Barbara', 'Grace']);
  say(`${green('ok')}  sorted by a function of this thread, which stands still: ${sorted.join(', ')}`);

  assert.throws(
    () => db.get('nothing', 1),
    (error) => error instanceof NoSuchTable && error.table === 'nothing',
  );
  say(`${green('ok')}  what is thrown there is thrown here, and is of its class`);
  port.close();
}

if (isProgram(import.meta.url)) database();
