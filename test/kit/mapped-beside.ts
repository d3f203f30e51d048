// Descriptors, handed over beside a ring as a socket hands them over: what a medium of processes may carry with a value. Not a
// native port and no handle is among them, and lanes let go of them all the same.
import type { Beside, BesideValue, HeldValue } from '../../src/lane/beside.ts';
import type { MappedAgent, Said } from './mapped-agents.ts';

/** As it travels. Whoever has it must use it or let go of it. */
export class Descriptor {
  /** How often it was let go of. */
  letGo = 0;
  /** Whoever opens it finds that it leads nowhere. */
  broken = false;
}

/** What its receiver makes of one. */
export class OpenFile {
  readonly descriptor: Descriptor;

  constructor(descriptor: Descriptor) {
    this.descriptor = descriptor;
  }
}

function isDescriptor(item: unknown): item is Descriptor {
  return item instanceof Descriptor;
}

/** Values are lists here, and descriptors stand in them as they are. */
function inPlaces(value: unknown, places: ReadonlyMap<unknown, unknown>): unknown {
  return Array.isArray(value) ? value.map((item: unknown) => places.get(item) ?? item) : value;
}

export class MappedBeside implements Beside {
  readonly textMin: number = Number.POSITIVE_INFINITY;
  readonly atWill = true;
  readonly postedWhere = 0;
  posted = 0;
  readonly #agent: MappedAgent;
  readonly #address: number;
  readonly #came = new Map<number, BesideValue>();

  constructor(agent: MappedAgent, address: number) {
    this.#agent = agent;
    this.#address = address;
  }
  get late(): boolean {
    return this.#agent.late;
  }
  post(value: unknown, transfer: readonly unknown[]): number {
    this.#agent.say({ address: this.#address, value: { number: this.posted, value, ports: [...transfer] } });
    return this.posted++;
  }
  holdBack(value: unknown, transfer: readonly unknown[]): HeldValue {
    return { value, transfer };
  }
  accept({ number, value, ports }: Required<Said>['value']): void {
    this.#came.set(number, { value, ports });
  }
  peerOver(): void {}
  take(number: number): BesideValue | undefined {
    this.#agent.pull();
    const found = this.#came.get(number);
    this.#came.delete(number);
    return found;
  }
  has(number: number): boolean {
    return this.#came.has(number);
  }
  letGoBefore(): void {}
  readonly letGo = (_: unknown, moved: readonly unknown[]): void => {
    for (const descriptor of moved) if (isDescriptor(descriptor)) descriptor.letGo++;
  };
  movesOn(value: unknown, transfer: readonly unknown[]): HeldValue {
    return { value, transfer };
  }
  opened(value: unknown, ports: readonly unknown[]): BesideValue {
    if (ports.some((item) => isDescriptor(item) && item.broken)) {
      this.letGo(value, ports);
      throw new Error('it leads nowhere');
    }
    const files = new Map(ports.filter(isDescriptor).map((descriptor) => [descriptor, new OpenFile(descriptor)]));
    return { value: inPlaces(value, files), ports: ports.map((item) => files.get(item as Descriptor) ?? item) };
  }
}
