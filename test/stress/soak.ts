// `npm run soak`: everything random, much longer: a thousand ends of peers, a million damaged regions, ten million messages,
// millions of random operations. On this runtime; `npm run soak -- --runtime bun` for another. Takes about half an hour.
//
//   npm run soak -- --transport memory --minutes 10     between processes instead (process-soak.ts), after `npm run native`
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { seed } from '../kit/prng.ts';

const given = process.argv.slice(2);
if (given.includes('--transport')) await import('./process-soak.js' as string);
else soakTests();

function soakTests(): void {
  const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
  const args = [
    join(root, 'tools/test.mjs'),
    ...(given.includes('--runtime') ? [] : ['--runtime', 'current']),
    ...['--only', 'stress/', '--only', 'property/', '--only', 'test/codec/', '--watchdog', '3600'],
    ...given,
  ];
  console.log(`SOAK=1 SEED=${seed}: the same seed repeats the run`);
  const env = { ...process.env, SOAK: '1', SEED: String(seed) };
  spawn(process.execPath, args, { cwd: root, env, stdio: 'inherit' }).on('close', (status) => {
    process.exitCode = status ?? 1;
  });
}
