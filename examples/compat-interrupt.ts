// "Blocking Reads with Interrupt" from sab-message-port's README, its text unchanged but for the import line:
// compat-verbatim/interrupt/main.ts and worker.ts. The worker never returns to its event loop.
import process from 'node:process';
import { runPage } from './compat-verbatim/page.ts';

const isLast = ([report]: readonly unknown[]): boolean => {
  const { task, progress } = report as { task?: string; progress?: string };
  return task === 'B' && progress === '75%';
};
await runPage(new URL('./compat-verbatim/interrupt/', import.meta.url), isLast);
process.exit(0);
