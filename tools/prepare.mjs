// npm's `prepare`: builds dist/ for whoever installs from git or from a folder (a published package has it). npm runs it after
// an install in the repository itself, too. There it does nothing: each command builds what is stale, and an install
// must not fail because the source at hand does not compile.
import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { npm_config_local_prefix: project, npm_config_global: global, npm_command: command } = process.env;
const here = project !== undefined && realpathSync(project) === realpathSync(root);
if (!(here && global !== 'true' && /^(ci|install)$/.test(command ?? ''))) await build();
