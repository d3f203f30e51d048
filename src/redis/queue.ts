// A queue on Redis: a stream with one consumer group; beside it a sorted set of jobs whose time has not come, and a stream of dead letters. All keys have one hash
// tag, so that a cluster has them in one place. What must not come apart is a script.
//
//   {prefix.queue.name}        stream: v the job, a how often it was tried in vain before
//   {prefix.queue.name}:later  sorted set by time in ms: "<id>:<tries>:" and the job
//   {prefix.queue.name}:dead   stream: v, a, w what was said
//   {prefix.queue.name}:id:*   ids of jobs that were put
//   {prefix.queue.name}:ack    what all who use it say: ackMs

import { inTime } from '../engine/in-time.ts';
import { randomId } from '../engine/names.ts';
import { refusedBy } from '../engine/package-of.ts';
import { checkAckMs, type QueueStats, type QueueStore, type Taken, type TakenDead } from '../engine/queue.ts';
import { ClosedError, UsageError } from '../errors.ts';
import { QUEUE_ID_MS, REDIS_LATE_MS } from '../limits.ts';
import type { Commands } from './clients.ts';
import { bytesOf, isNotNow, isSaid, type Text, textOf } from './replies.ts';
import type { Server } from './server.ts';

const GROUP = 'millrace';
/** Where XAUTOCLAIM begins, and what it says behind the last one. */
const START = '0-0';
/** How often it is asked in one go. */
const LOOKS_MOST = 16;
type Entry = [id: Text, fields: Text[] | null];

/** KEYS stream, later, id; ARGV job, delay in ms, whether there is an id, ms of it, a random text */
const PUT = `
if ARGV[3] == '1' and redis.call('GET', KEYS[3]) then return 0 end
if tonumber(ARGV[2]) > 0 then
  local t = redis.call('TIME')
  redis.call('ZADD', KEYS[2], t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[2], ARGV[5] .. ':0:' .. ARGV[1])
else redis.call('XADD', KEYS[1], '*', 'v', ARGV[1], 'a', '0') end
if ARGV[3] == '1' then redis.call('SET', KEYS[3], '', 'PX', ARGV[4]) end
return 1`;
/** Jobs that one script moves: nothing else is done meanwhile. */
const DUE_MOST = 100;
/** KEYS stream, later: those whose time has come are jobs like others. */
const DUE = `
local t = redis.call('TIME')
local due = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', t[1] * 1000 + math.floor(t[2] / 1000), 'LIMIT', 0, ${DUE_MOST})
for _, each in ipairs(due) do
  local first = string.find(each, ':', 1, true)
  local second = string.find(each, ':', first + 1, true)
  redis.call('XADD', KEYS[1], '*', 'v', string.sub(each, second + 1), 'a', string.sub(each, first + 1, second - 1))
  redis.call('ZREM', KEYS[2], each)
end
return #due`;
/** KEYS stream; ARGV group, id. What is acknowledged and stays would be counted, and given to nobody. */
const DONE = `
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
return redis.call('XDEL', KEYS[1], ARGV[2])`;
/** KEYS stream; ARGV group, id, consumer: 0 where another one has it by now. */
const HOLDS = `
local held = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[2], ARGV[2], 1)
if #held == 0 or held[1][2] ~= ARGV[3] then return 0 end`;
/** Its time begins anew; JUSTID counts no further try. */
const EXTEND = `${HOLDS}
redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[3], 0, ARGV[2], 'JUSTID')
return 1`;
/** KEYS stream, later; what may be refused comes first, and then nothing was done. ARGV as above, delay in ms, tries, a random text */
const AGAIN = `${HOLDS}
local found = redis.call('XRANGE', KEYS[1], ARGV[2], ARGV[2])
if #found > 0 then
  local t = redis.call('TIME')
  redis.call('ZADD', KEYS[2], t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[4], ARGV[6] .. ':' .. ARGV[5] .. ':' .. found[1][2][2])
end
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
return redis.call('XDEL', KEYS[1], ARGV[2])`;
/** KEYS stream, dead; ARGV as above, tries, what was said */
const BURY = `${HOLDS}
local found = redis.call('XRANGE', KEYS[1], ARGV[2], ARGV[2])
if #found > 0 then redis.call('XADD', KEYS[2], '*', 'v', found[1][2][2], 'a', ARGV[4], 'w', ARGV[5]) end
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
return redis.call('XDEL', KEYS[1], ARGV[2])`;
/** KEYS stream, dead; ARGV group, id, job */
const REVIVE = `
if redis.call('XACK', KEYS[2], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('XDEL', KEYS[2], ARGV[2])
redis.call('XADD', KEYS[1], '*', 'v', ARGV[3], 'a', '0')
return 1`;

/** KEYS stream; ARGV group, consumer, ms: consumers that have nothing, and are this one, or have said nothing for so long. One that lives is made anew as it asks. */
const TIDY = `
local gone = 0
for _, each in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local of = {}
  for i = 1, #each, 2 do of[each[i]] = each[i + 1] end
  if of.pending == 0 and (of.name == ARGV[2] or of.idle > tonumber(ARGV[3])) then
    gone = gone + redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], of.name)
  end
end
return gone`;

/** What XREADGROUP says of one stream, in either version of the protocol, as either client has it. */
type Streams =
  | readonly [readonly [Text, Entry[]]]
  | readonly [Text, Entry[]]
  | Map<unknown, Entry[]>
  | Record<string, Entry[]>
  | null;
function entriesOf(streams: Streams): Entry[] {
  if (streams === null) return [];
  if (streams instanceof Map) return [...streams.values()][0] ?? [];
  if (!Array.isArray(streams)) return Object.values(streams)[0] ?? [];
  return Array.isArray(streams[0]) ? ((streams[0] as [Text, Entry[]])[1] ?? []) : (streams[1] as Entry[]);
}

export class RedisQueue implements QueueStore {
  readonly #server: Server;
  readonly #stream: string;
  readonly #later: string;
  readonly #dead: string;
  readonly #ackMs: number;
  readonly #consumer = randomId();
  /** It stands still until there are jobs. */
  #waits: Promise<Commands> | undefined;
  /** How many wait there. */
  #waiting = 0;
  #lookedMs = Number.NEGATIVE_INFINITY;
  /** How far the server has looked for what others have left. */
  readonly #cursors = new Map<string, string>();
  #closed = false;

  private constructor(server: Server, subject: string, ackMs: number) {
    this.#server = server;
    this.#stream = `{${subject}}`;
    this.#later = `{${subject}}:later`;
    this.#dead = `{${subject}}:dead`;
    this.#ackMs = ackMs;
  }
  /** @throws (rejects) UsageError ERR_OPTION for another `ackMs` than others say; RefusedError for what else the server says */
  static async open(server: Server, where: string, subject: string, ackMs: number): Promise<RedisQueue> {
    const queue = new RedisQueue(server, subject, ackMs);
    try {
      await queue.make();
      await queue.#tidy();
    } catch (thrown) {
      if (thrown instanceof UsageError) throw thrown;
      throw refusedBy(`Cannot have queue ${subject} in Redis at ${where}`, thrown);
    }
    return queue;
  }
  #says(...parts: readonly Text[]): Promise<unknown> {
    return this.#server.call(this.#stream, ...parts);
  }
  async make(): Promise<void> {
    await this.#checkAck();
    for (const key of [this.#stream, this.#dead]) await this.#group(key);
  }
  /** Consumers are the server's, also those of processes that were killed. */
  async #tidy(): Promise<void> {
    for (const key of [this.#stream, this.#dead])
      await this.#says('EVAL', TIDY, '1', key, GROUP, this.#consumer, String(this.#ackMs)).catch(() => {});
  }
  isGone(error: unknown): boolean {
    return /^NOGROUP/.test((error as Error).message);
  }
  isSaid(error: unknown): boolean {
    return isSaid(error);
  }
  async #checkAck(): Promise<void> {
    const key = `${this.#stream}:ack`;
    await this.#says('SET', key, String(this.#ackMs), 'NX');
    const found = Number(textOf((await this.#says('GET', key)) as Text));
    checkAckMs(found, this.#ackMs, `DEL '${key}'`);
  }
  async #group(key: string): Promise<void> {
    await this.#says('XGROUP', 'CREATE', key, GROUP, '0', 'MKSTREAM').catch((error: Error) => {
      if (!error.message.includes('BUSYGROUP')) throw error;
    });
  }

  async put(job: Uint8Array, delayMs: number, id: string | undefined): Promise<void> {
    const key = `${this.#stream}:id:${id ?? ''}`;
    const told = [job, String(delayMs), id === undefined ? '0' : '1', String(QUEUE_ID_MS), randomId()];
    await this.#says('EVAL', PUT, '3', this.#stream, this.#later, key, ...told);
  }

  async take(count: number, waitMs: number, given: (job: Taken) => void): Promise<void> {
    const now = performance.now();
    if (now - this.#lookedMs > waitMs / 2) {
      this.#lookedMs = now;
      while (Number(await this.#says('EVAL', DUE, '2', this.#stream, this.#later)) === DUE_MOST);
      const left = await this.#left(this.#stream, count);
      for (const each of left) given(this.#taken(each));
      if (left.length > 0) return;
    }
    if (this.#closed) throw new ClosedError('This queue was closed', 'closed');
    this.#waits ??= this.#server.waits(this.#stream);
    const waits = await this.#waits.catch((error) => {
      this.#waits = undefined;
      throw error;
    });
    let found: Streams;
    this.#waiting++;
    try {
      const asked = waits.call(
        ...['XREADGROUP', 'GROUP', GROUP, this.#consumer, 'COUNT', String(count), 'BLOCK', String(waitMs)],
        ...['STREAMS', this.#stream, '>'],
      );
      // Several may stand in a row on the one connection; a server that is gone without a word answers never.
      const late = (): Error => new Error('no answer to who waits for jobs');
      found = (await inTime(asked, this.#waiting * waitMs + REDIS_LATE_MS, late)) as Streams;
    } catch (error) {
      if (isSaid(error) && !isNotNow(error)) throw error;
      // It has no server, or not the one that has the queue by now: that one is found by what is asked first.
      this.#waits = undefined;
      this.#server.endWaits(waits);
      this.#lookedMs = Number.NEGATIVE_INFINITY;
      if (!isNotNow(error)) throw error;
      return;
    } finally {
      this.#waiting--;
    }
    for (const entry of entriesOf(found)) if (entry[1] !== null) given(this.#taken({ entry, given: 1 }));
  }
  /** What somebody had who has given no sign for so long. */
  async #left(key: string, count: number): Promise<{ entry: Entry; given: number }[]> {
    // It looks at ten for one that it may give: where those before are worked at, further on the next time, and from the beginning again behind the last one.
    let entries: Entry[] = [];
    for (let looks = 0; entries.length === 0 && looks < LOOKS_MOST; looks++) {
      const from = this.#cursors.get(key) ?? START;
      const [next, found] = (await this.#says(
        ...['XAUTOCLAIM', key, GROUP, this.#consumer, String(this.#ackMs), from, 'COUNT', String(count)],
      )) as [Text, Entry[]];
      entries = found;
      this.#cursors.set(key, textOf(next));
      if (textOf(next) === START) break;
    }
    const left: { entry: Entry; given: number }[] = [];
    for (const entry of entries) {
      if (entry === null || entry[1] === null) continue;
      const id = textOf(entry[0]);
      const [pending] = (await this.#says('XPENDING', key, GROUP, id, id, '1')) as [Text, Text, number, number][];
      left.push({ entry, given: Number(pending?.[3] ?? 1) });
    }
    return left;
  }
  #taken({ entry: [key, fields], given }: { entry: Entry; given: number }): Taken {
    const id = textOf(key);
    const [, job, , before] = fields as [Text, Text, Text, Text];
    const attempt = Number(textOf(before)) + given;
    const own = [GROUP, id, this.#consumer];
    return {
      bytes: bytesOf(job),
      attempt,
      done: async () => {
        await this.#says('EVAL', DONE, '1', this.#stream, GROUP, id);
      },
      again: async (delayMs) => {
        const told = [...own, String(delayMs), String(attempt), randomId()];
        await this.#says('EVAL', AGAIN, '2', this.#stream, this.#later, ...told);
      },
      back: async () => {
        const told = [...own, '0', String(attempt - 1), randomId()];
        await this.#says('EVAL', AGAIN, '2', this.#stream, this.#later, ...told);
      },
      bury: async (attempts, why) => {
        await this.#says('EVAL', BURY, '2', this.#stream, this.#dead, ...own, String(attempts), why);
      },
      extend: async () => {
        return Number(await this.#says('EVAL', EXTEND, '1', this.#stream, ...own)) !== 0;
      },
    };
  }

  async stats(): Promise<QueueStats> {
    const [all, later, dead, pending] = await Promise.all([
      this.#says('XLEN', this.#stream),
      this.#says('ZCARD', this.#later),
      this.#says('XLEN', this.#dead),
      this.#says('XPENDING', this.#stream, GROUP) as Promise<[number]>,
    ]);
    const running = Number(pending[0]);
    return { waiting: Number(all) - running + Number(later), running, dead: Number(dead) };
  }

  async takeDead(count: number): Promise<TakenDead[]> {
    const entries = (await this.#left(this.#dead, count)).map(({ entry }) => entry);
    if (entries.length < count) {
      const more = String(count - entries.length);
      const found = (await this.#says(
        ...['XREADGROUP', 'GROUP', GROUP, this.#consumer, 'COUNT', more, 'STREAMS', this.#dead, '>'],
      )) as Streams;
      entries.push(...entriesOf(found));
    }
    return entries.map(([key, fields]) => {
      const id = textOf(key);
      const [, job, , attempts, , why] = fields as [Text, Text, Text, Text, Text, Text];
      return {
        bytes: bytesOf(job),
        attempts: Number(textOf(attempts)),
        why: textOf(why),
        drop: async () => {
          await this.#says('EVAL', DONE, '1', this.#dead, GROUP, id);
        },
        retry: async () => {
          await this.#says('EVAL', REVIVE, '2', this.#stream, this.#dead, GROUP, id, bytesOf(job));
        },
      };
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const waits = await this.#waits?.catch(() => undefined);
    if (waits !== undefined) this.#server.endWaits(waits);
    await this.#tidy();
  }
}
