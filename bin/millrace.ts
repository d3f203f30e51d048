#!/usr/bin/env node
// The command: `npx millrace <verb>`. Each verb is a program of its own; this only finds it.
import { readFileSync } from 'node:fs';
import process from 'node:process';

const HELP = `millrace: message ports that can be read synchronously, push back, and never hang

  millrace demo       a tour in the terminal
  millrace bench      the benchmark, measured here     (millrace bench --help)
  millrace report     draws and compares its results   (millrace report --help)
  millrace doctor     what this runtime can do, tried out
  millrace --version`;

const [verb, ...rest] = process.argv.slice(2);
if (verb === 'demo') await import('../examples/tour.ts');
else if (verb === 'bench' || verb === 'report') {
  const { main } = await import('../bench/cli.ts');
  process.exitCode = await main([verb, ...rest]);
} else if (verb === 'doctor') {
  const { doctor } = await import('./doctor.ts');
  process.exitCode = await doctor();
} else if (verb === '--version' || verb === '-v') {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  console.log((JSON.parse(text) as { version: string }).version);
} else if (verb === undefined || verb === 'help' || verb === '--help' || verb === '-h') console.log(HELP);
else {
  console.error(`millrace: there is no verb ${JSON.stringify(verb)}\n\n${HELP}`);
  process.exitCode = 2;
}
