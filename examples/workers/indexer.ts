// A worker that never returns to its event loop. It blocks in receive(), and while it works it looks at one word of
// shared memory to learn that it is wanted elsewhere.
import { CLOSED, parentPort } from '../../src/index.ts';

export interface FileMessage {
  readonly task: number;
  readonly path: string;
  readonly text: string;
}
export interface EndMessage {
  readonly task: number;
  readonly end: true;
}
export interface Report {
  readonly task: number;
  readonly files: number;
  readonly words: number;
  readonly state: 'working' | 'aborted' | 'done';
  /** The words found in most files, with the number of files. */
  readonly common?: ReadonlyMap<string, number>;
}

const port = parentPort<FileMessage | EndMessage, Report>();
const REPORT_EVERY = 100;

let task = 0;
/** The last task that was called off. */
let aborted = 0;
let files = 0;
let words = 0;
let index = new Map<string, Set<string>>();

function startOver(next: number): void {
  task = next;
  files = 0;
  words = 0;
  index = new Map();
}

/** Returns false when this task was called off in the middle of the file. An interrupt for another one is none for it. */
function indexFile(path: string, text: string): boolean {
  for (const [word] of text.matchAll(/[\p{L}_$][\p{L}\d_$]{2,}/gu)) {
    if ((++words & 255) === 0 && port.interrupted === task) return false;
    const places = index.get(word);
    if (places === undefined) index.set(word, new Set([path]));
    else places.add(path);
  }
  return true;
}

function mostCommon(): Map<string, number> {
  const ranked = [...index].map(([word, places]) => [word, places.size] as const).sort((a, b) => b[1] - a[1]);
  return new Map(ranked.slice(0, 5));
}

for (let message = port.receive(); message !== CLOSED; message = port.receive()) {
  // What is left of an aborted task is read and let go: its number tells.
  if (message.task <= aborted) continue;
  if (message.task > task) startOver(message.task);
  const finished = 'end' in message || indexFile(message.path, message.text);
  if (!finished) {
    port.postMessage({ task, files, words, state: 'aborted' });
    aborted = port.clearInterrupt(task);
  } else if ('end' in message) {
    port.postMessage({ task, files, words, state: 'done', common: mostCommon() });
  } else if (++files % REPORT_EVERY === 0) {
    port.postMessage({ task, files, words, state: 'working' });
  }
}
