// A class of errors that both threads know: what is thrown in one arrives in the other as what it is.
import { registerError } from '../../src/rpc/index.ts';

export class NoSuchTable extends Error {
  readonly table: string;
  constructor(table: string) {
    super(`There is no table ${table}`);
    this.table = table;
  }
}
registerError(NoSuchTable, 'NoSuchTable');
