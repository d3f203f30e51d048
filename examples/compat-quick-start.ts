// The quick start of sab-message-port's README, its text unchanged but for the import line and the worker it takes for
// granted: compat-verbatim/quick-start/main.ts and worker.ts.
import process from 'node:process';
import { runPage } from './compat-verbatim/page.ts';

await runPage(new URL('./compat-verbatim/quick-start/', import.meta.url), ([who]) => who === 'from worker:');
process.exit(0);
