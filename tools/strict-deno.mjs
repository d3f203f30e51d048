// Loaded before a test file on Deno. Its test runner lets a file pass that throws at top level after its first test, or
// throws after a test ended; the other runtimes fail it. This writes such errors to the file named in MILLRACE_STRAY,
// and tools/test.mjs counts the file as failed. An error that a test listens for is no stray.
import { appendFileSync } from 'node:fs';
import process from 'node:process';

const report = process.env.MILLRACE_STRAY;
const events = { error: 'uncaughtException', unhandledrejection: 'unhandledRejection' };
if (report)
  for (const [name, listened] of Object.entries(events)) {
    globalThis.addEventListener(name, (event) => {
      if (event.defaultPrevented || process.listenerCount(listened) > 0) return;
      const error = event.error ?? event.reason;
      appendFileSync(report, `${name}: ${error?.stack ?? String(error)}\n`);
    });
  }
