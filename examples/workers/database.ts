// A database whose every answer is asynchronous, as those are that read files or ask a server.

import { setTimeout as wait } from 'node:timers/promises';
import { parentPort } from '../../src/index.ts';
import { expose, type Reference, reference } from '../../src/rpc/index.ts';
import { NoSuchTable } from './database-errors.ts';

export type Row = { readonly id: number; readonly name: string };

const tables = new Map<string, Row[]>();

async function table(name: string): Promise<Row[]> {
  await wait(1);
  const rows = tables.get(name);
  if (rows === undefined) throw new NoSuchTable(name);
  return rows;
}

/** What is inserted counts once it is committed. */
class Transaction {
  readonly #inserted: [string, Row][] = [];

  async insert(into: string, row: Row): Promise<void> {
    await table(into);
    this.#inserted.push([into, row]);
  }
  async commit(): Promise<number> {
    for (const [into, row] of this.#inserted) (await table(into)).push(row);
    return this.#inserted.splice(0).length;
  }
}

const database = {
  async create(name: string): Promise<void> {
    await wait(1);
    tables.set(name, []);
  },
  async get(from: string, id: number): Promise<Row | undefined> {
    return (await table(from)).find((row) => row.id === id);
  },
  async *all(from: string): AsyncGenerator<Row> {
    for (const row of await table(from)) {
      await wait(1);
      yield row;
    }
  },
  /** @param order asked back, in the thread that stands still */
  async sorted(from: string, order: (a: Row, b: Row) => number | Promise<number>): Promise<Row[]> {
    const sorted: Row[] = [];
    for (const row of await table(from)) {
      let at = 0;
      while (at < sorted.length && (await order(sorted[at] as Row, row)) <= 0) at++;
      sorted.splice(at, 0, row);
    }
    return sorted;
  },
  begin: (): Reference<Transaction> => reference(new Transaction()),
};
export type Database = typeof database;

expose(database, parentPort());
