// What subjects are called on a server: all under one prefix, so that a server's permissions can say who may do what. docs/guides/engines.md has the table.
import { platformStart } from '#platform';
import { UsageError } from '../errors.ts';
import { ENGINE_NAME_BYTES_MAX } from '../limits.ts';

const NAME = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;
const PATTERN = /^(?:[A-Za-z0-9_-]+|\*)(?:\.(?:[A-Za-z0-9_-]+|\*))*(?:\.>)?$|^>$/;

export class Names {
  readonly #prefix: string;

  /** @throws UsageError ERR_OPTION */
  constructor(prefix: string) {
    this.#prefix = checkName('prefix', prefix);
  }

  /** Where who listens for ports is asked for lines: by its name, which several may have, and by its own, for lines of connections that it has. */
  port(name: string): string {
    return `${this.#prefix}.port.${name}`;
  }
  listener(id: string): string {
    return `${this.#prefix}.listener.${id}`;
  }
  /** Where one end of a line is heard. */
  line(id: string, end: 'a' | 'b'): string {
    return `${this.#prefix}.line.${id}.${end}`;
  }
  topic(name: string): string {
    return `${this.#prefix}.topic.${name}`;
  }
  isTopic(subject: string): boolean {
    return subject.startsWith(this.topic(''));
  }
  /** The name in the subject of one. */
  topicOf(subject: string): string {
    return subject.slice(this.topic('').length);
  }
  call(name: string): string {
    return `${this.#prefix}.call.${name}`;
  }
  reply(id: string): string {
    return `${this.#prefix}.reply.${id}`;
  }
  /** Whether it stands under the prefix. */
  isOurs(subject: string): boolean {
    return subject.startsWith(`${this.#prefix}.`);
  }
  isReply(subject: string): boolean {
    return subject.startsWith(this.reply(''));
  }
  queue(name: string): string {
    return `${this.#prefix}.queue.${name}`;
  }
  /** Where the server itself answers. */
  probe(id: string): string {
    return `${this.#prefix}.probe.${id}`;
  }
}

/** @throws UsageError ERR_OPTION */
export function checkName(option: string, name: unknown): string {
  if (typeof name === 'string' && name.length <= ENGINE_NAME_BYTES_MAX && NAME.test(name)) return name;
  throw wrong(option, name, "letters, digits, '-' and '_', in parts that dots separate");
}
/** @throws UsageError ERR_OPTION */
export function checkPattern(pattern: unknown): string {
  if (typeof pattern === 'string' && pattern.length <= ENGINE_NAME_BYTES_MAX && PATTERN.test(pattern)) return pattern;
  throw wrong('pattern', pattern, "a name, in which '*' stands for one part, and '>' at the end for all that follow");
}
function wrong(option: string, value: unknown, takes: string): UsageError {
  const text = `Option ${option} cannot be ${JSON.stringify(value) ?? String(value)}: it takes ${takes}, of ${ENGINE_NAME_BYTES_MAX} characters at the most`;
  return new UsageError('ERR_OPTION', text, { option, value });
}

/** 128 bits, which nobody can guess. */
export function randomId(): string {
  return [...platformStart.randomWords(4)].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}
/** Whether it is where one asker hears its answers, under whatever prefix; a topic may be called so, too. */
export function isReplySubject(subject: string): boolean {
  return /\.reply\.[0-9a-f]{32}$/.test(subject);
}
export function isId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}
