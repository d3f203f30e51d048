// Two processes that start to listen in the same millisecond, at the address of one that is dead: a thousand times under SOAK=1.
// watchdog: 120 s
// asked for: node-22, node-26
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { linkSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inOneFile } from '../kit/in-one-file.ts';
import { cases } from '../kit/prng.ts';
import { within } from '../kit/watchdog.ts';
import { runtimeKind } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(inOneFile(new URL('./program.js', import.meta.url)));
const RUN: readonly string[] = runtimeKind === 'deno' ? ['run', '-A', '--no-lock'] : [];
const LEAD_MS = 3;

interface Racer {
  ask(line: string): Promise<string | undefined>;
  end(): void;
}
function racer(): Racer {
  const child = spawn(process.execPath, [...RUN, PROGRAM, 'race'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(line) {
      child.stdin.write(`${line}\n`);
      return (await within('an answer', lines.next())).value;
    },
    end: () => child.kill('SIGKILL'),
  };
}

if (platform() === 'linux') {
  test('exactly one of two wins, each time, and nothing is left', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-racing-'));
    const racers = [racer(), racer()];
    const ask = (line: string): Promise<unknown[]> => Promise.all(racers.map((each) => each.ask(line)));
    try {
      await ask('');
      for (let round = cases(50, 1000); round > 0; round--) {
        const path = join(folder, `${round}.sock`);
        const dead = createServer();
        await new Promise<void>((resolve) => dead.listen(`${path}-first`, resolve));
        linkSync(`${path}-first`, path);
        await new Promise((resolve) => dead.close(resolve));
        const told = await ask(`${path} ${Date.now() + LEAD_MS}`);
        assert.deepEqual(told.sort(), ['ERR_ADDRESS_IN_USE', 'won'], `round ${round}`);
        await ask('');
      }
      assert.deepEqual(readdirSync(folder), []);
    } finally {
      for (const each of racers) each.end();
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
