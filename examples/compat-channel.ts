// The MWChannel example of sab-message-port's README, its text unchanged but for the import line and what it leaves to
// its reader: compat-verbatim/channel/main.ts and worker.ts.
import process from 'node:process';
import { runPage } from './compat-verbatim/page.ts';

let handled = 0;
const isLast = ([, report]: readonly unknown[]): boolean => {
  if ((report as { handled?: unknown }).handled !== undefined) handled++;
  // Two events one by one, then both together over the native port.
  return handled === 3;
};
await runPage(new URL('./compat-verbatim/channel/', import.meta.url), isLast, { events: ['first', 'second'] });
process.exit(0);
