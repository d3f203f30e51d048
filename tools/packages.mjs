// `npm run packages`: installs the compilers and bundlers that test/packages/ tries the packed package with (about
// 190 MB), in the exact versions of test/packages/package-lock.json. Without them those tests are skipped.
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const cwd = fileURLToPath(new URL('../test/packages', import.meta.url));
const npm = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
const { status } = spawnSync('npm', npm, { cwd, stdio: 'inherit', shell: process.platform === 'win32' });
process.exitCode = status ?? 1;
