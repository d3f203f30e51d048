// The engines and the server that the tests of browsers have, typed. They are not in the package: browsers belong to a clone.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../machine.ts';

export interface Engine {
  readonly name: string;
  /** The environment's variable that names its program. */
  readonly variable: string;
  /** What Debian calls it. */
  readonly packages: string;
}

export interface Screen {
  close(): Promise<void>;
}

export interface Opened {
  /** Resolves, with how, when the browser ends by itself. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}

interface Engines {
  readonly ENGINES: readonly Engine[];
  programOf(engine: Engine): string | undefined;
  versionOf(program: string, screen?: Screen): string;
  screenFor(engine: Engine): Promise<Screen | undefined>;
  open(engine: Engine, program: string, url: string, options?: { screen?: Screen | undefined }): Opened;
}

export interface Asked {
  readonly method: string;
  text(): Promise<string>;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

interface Host {
  host(
    answerTo: (path: string, asked: Asked) => Promise<Answer | undefined>,
    options: { readonly folders: RegExp },
  ): Promise<{ readonly origin: string; close(): void }>;
}

export const areHere: boolean = existsSync(join(root, 'test/browser/engines.mjs'));

const load = async <T>(file: string): Promise<T> =>
  (await import(pathToFileURL(join(root, 'test/browser', file)).href)) as T;

export const loadEngines = (): Promise<Engines> => load('engines.mjs');
export const loadHost = (): Promise<Host> => load('host.mjs');
