// What a contender brings to a page: how two ends of it are made, opened, and by whom. Nothing here or beside it asks for Node: all
// of it runs in pages and their workers.
import type { End } from '../../subject.ts';
import type { Wait } from '../../wait.ts';

/** Between the page and a worker, or between two workers of the page. */
export type Place = 'page' | 'workers';

export interface PageEnd extends End {
  /** Answers calls from now on, where the contender thinks in calls. */
  serve?(answer: (value: unknown) => unknown): void;
  /** Resolves when the other end is open; this end does not block before. */
  readonly ready?: Promise<unknown>;
}

/** What a thread must know to open an end. */
export interface Terms {
  /** This end blocks its thread while it waits. */
  readonly blocks: boolean;
  /** Which of a package's ways; each kit knows its own. */
  readonly way: string;
  /** Where the rival's module is. */
  readonly url: string;
}

/** The other end under way to the thread that opens it. */
export interface Handed {
  readonly data: unknown;
  readonly transfer: readonly unknown[];
}

/** Both ends of a contender; the same module is loaded by the page and by its workers. */
export interface Kit {
  /** @param worker the worker that `far` will go to; undefined where this is a worker itself */
  connect(terms: Terms, worker?: Worker): Promise<Connected> | Connected;
  attach(data: unknown, terms: Terms): Promise<PageEnd> | PageEnd;
}

export interface Connected {
  readonly end: PageEnd;
  readonly far: Handed;
}

export interface PageSubject {
  /** As the same contender is called in results of other runtimes. */
  readonly name: string;
  readonly label: string;
  /** How it is used here: one sentence. */
  readonly use: string;
  /** It needs shared memory, and so a cross-origin isolated page. */
  readonly isolated: boolean;
  readonly places: readonly Place[];
  /** How the ends wait between a page and its worker, and between two workers. */
  readonly wait: Readonly<Record<Place, Wait>>;
  readonly way: string;
  readonly kit: Kit;
  /** The rival's module; undefined for what needs none. */
  readonly rival?: RivalName;
  /** A worker of its own file, without a channel yet. */
  worker(): Worker;
}

export type RivalName = 'comlink' | 'sab-message-port';
