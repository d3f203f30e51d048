// What the tests of millrace/compat/comlink expose, in the same thread or in another one.
import process from 'node:process';
import {
  expose,
  finalizer,
  type NodeEndpoint,
  nodeEndpoint,
  proxy,
  transfer,
  transferHandlers,
} from '../../src/compat/comlink.ts';
import { attach, type Port, type RemoteHandle } from '../../src/index.ts';
import { registerError } from '../../src/rpc/index.ts';

export class Refused extends RangeError {
  readonly code: string = 'E_REFUSED';
  readonly limit: number = 7;
}
registerError(Refused, 'test.Refused');

/** A value that only a handler of the program's carries. */
export class Celsius {
  readonly degrees: number;
  constructor(degrees: number) {
    this.degrees = degrees;
  }
}
export function setHandlers(): void {
  transferHandlers.set('CELSIUS', {
    canHandle: (value): value is Celsius => value instanceof Celsius,
    serialize: (value) => {
      const form = new Float64Array([(value as Celsius).degrees]);
      return [form, [form.buffer]];
    },
    deserialize: (form) => new Celsius((form as Float64Array)[0] as number),
  });
}

export class Tally {
  static readonly unit: string = 'pieces';
  static make(): string {
    return 'made';
  }
  count: number;
  constructor(count: number) {
    this.count = count;
  }
  get double(): number {
    return this.count * 2;
  }
  set double(value: number) {
    this.count = value / 2;
  }
  add(more: number): number {
    this.count += more;
    return this.count;
  }
}

type Callback = (value: unknown) => unknown;

export class Api {
  counter = 0;
  onready: Callback | undefined;
  readonly nested: { deep: { value: number; name(): string } } = {
    deep: {
      value: 1,
      name(): string {
        return `deep ${this.value}`;
      },
    },
  };
  readonly list: number[] = [1, 2, 3];
  readonly map: Map<string, number> = new Map([['a', 1]]);

  readonly Tally: typeof Tally = Tally;
  readonly kept: Callback[] = [];
  finalized = 0;

  static {
    Object.defineProperty(Api.prototype, finalizer, {
      value(this: Api): void {
        this.finalized++;
      },
    });
  }
  inc(): number {
    return ++this.counter;
  }
  echo<T>(value: T): T {
    return value;
  }
  async call(callback: Callback, value: unknown): Promise<unknown> {
    return await callback(value);
  }
  keep(callback: Callback): void {
    this.kept.push(callback);
  }
  ready(value: unknown): unknown {
    return this.onready?.(value);
  }
  fail(): never {
    throw new Refused('too hot', { cause: new TypeError('because') });
  }
  failWith(value: unknown): never {
    throw value;
  }
  tally(count: number): Tally {
    return proxy(new Tally(count));
  }
  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length).fill(7);
    return transfer(bytes, [bytes.buffer]);
  }
  lengthOf(bytes: Uint8Array): number {
    return bytes.length;
  }
  kindOf(value: unknown): string {
    return (value as object).constructor.name;
  }
  forever(): Promise<never> {
    return new Promise(() => {});
  }
  /** Ends this thread, some way. */
  end(how: 'exit' | 'throw'): Promise<never> {
    setTimeout(() => {
      if (how === 'exit') process.exit(3);
      throw new Refused('of its own accord');
    });
    return this.forever();
  }
}

export interface WorkerStart {
  /** Exposed here and not at `parentPort`. */
  readonly port?: unknown;
  readonly remote?: RemoteHandle;
  /** Only after so many milliseconds. */
  readonly lateMs?: number;
}

/** What the worker of these tests does. */
export function startWorker(parentPort: NodeEndpoint, { port, remote, lateMs }: WorkerStart): Port | undefined {
  setHandlers();
  const own = remote === undefined ? undefined : attach(remote);
  const endpoint = own ?? (port as NodeEndpoint | undefined) ?? parentPort;
  const go = (): void => expose(new Api(), own ?? nodeEndpoint(endpoint as NodeEndpoint));
  if (lateMs === undefined) go();
  else setTimeout(go, lateMs);
  return own;
}
