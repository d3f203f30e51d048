// Whose a port is: what goes over one is for one hub, or one engine, alone.
import { UsageError } from '../errors.ts';
import { claimReading, overflowOf, Port } from '../port/port.ts';

const claimed = new WeakSet<Port>();

/**
 * @param doing what for, as far as it has come
 * @throws UsageError ERR_OPTION for what is no port of this copy of the library, or one that a hub or an engine has, or that drops messages; ERR_BUSY for one that somebody reads
 */
export function claimPort(port: unknown, doing: string): Port {
  if (!(port instanceof Port)) {
    const other = (port as { [Symbol.toStringTag]?: unknown } | null | undefined)?.[Symbol.toStringTag] === 'Port';
    const why = other ? 'it is one of another copy of this library' : 'it takes a port';
    throw wrong(`${doing} ${shown(port)}: ${why}`);
  }
  if (claimed.has(port)) throw wrong(`${doing} this port: a hub, or an engine, has it already`);
  checkKeeps(port, doing);
  claimReading(port, 'what a hub and its members say');
  claimed.add(port);
  return port;
}
/**
 * Who waits for an answer that was dropped waits for ever.
 * @throws UsageError ERR_OPTION
 */
export function checkKeeps(port: Port, doing: string): void {
  const overflow = overflowOf(port);
  if (overflow === undefined || overflow === 'wait' || overflow === 'reject') return;
  const text = `${doing} a port with overflow '${overflow}': it would drop what a hub and its members say to one another; make it with 'wait' or 'reject'`;
  throw new UsageError('ERR_OPTION', text, { option: 'overflow', value: overflow });
}
function wrong(text: string): UsageError {
  return new UsageError('ERR_OPTION', text, { option: 'port' });
}

/** What somebody has said, for people, whatever it is. */
export function shown(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean')
    return String(value);
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : `something of type ${typeof value}`;
}
