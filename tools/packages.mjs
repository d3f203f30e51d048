// `npm run packages`: installs the compilers and bundlers that test/packages/ tries the packed package with (about
// 190 MB), in the exact versions of test/packages/package-lock.json. Tests say `// needs: packages`.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const home = join(dirname(dirname(fileURLToPath(import.meta.url))), 'test/packages');

export const PACKAGES_COMMAND = 'npm run packages';

export const packagesInstalled = () => existsSync(join(home, 'node_modules/.package-lock.json'));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const npm = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', npm, { cwd: home, stdio: 'inherit', shell: process.platform === 'win32' });
  process.exitCode = status ?? 1;
}
