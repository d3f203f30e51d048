// The worker that synckit starts.
import { api } from '../call-subject.ts';
import { loadRival } from './rival.ts';
import { SYNCKIT_FILE } from './synckit.ts';

interface Package {
  runAsWorker(call: (a: number, b: number) => number): void;
}

const { runAsWorker } = await loadRival<Package>('synckit', SYNCKIT_FILE);
runAsWorker(api.add);
