// `npm run native -- --packages`: what makes a package of each binary in dist/native/, one per platform, beside it. `npm publish dist/native/linux-x64`
// then publishes it, `npm pack` packs it. What wants a newer glibc than `--all` builds for is private: it is for this machine.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const main = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

export const packageName = (platform) => `@millrace/native-${platform}`;

/** The newest glibc that the binary asks for, as [2, 28]; undefined with musl. */
function glibcOf(file) {
  const versions = [...readFileSync(file, 'latin1').matchAll(/GLIBC_(\d+)\.(\d+)/g)].map(([, a, b]) => [+a, +b]);
  return versions.sort(([a, b], [c, d]) => a - c || b - d).at(-1);
}

const readme = (name, { os, cpu, libc }) => `# ${name}

The native part of [millrace](https://www.npmjs.com/package/millrace) for ${os} on ${cpu} with ${libc}: with it \`millrace/process\` on Node takes values
through memory that two processes share, in place of a socket. It has no code of its own that anybody calls, and no install script.

    npm install millrace ${name}

Its version is millrace's. \`port.link.way\` says whether it is used, and why not. Without it everything works, over sockets; Bun and Deno need none.
`;

/**
 * @param platform as `linux-arm64-musl`
 * @param file its binary
 * @param glibc the newest that a package may ask for, as '2.28'
 */
export function layOut(platform, file, glibc) {
  const [os, cpu, musl] = platform.split('-');
  const fits = { os, cpu, libc: musl ?? 'glibc' };
  const name = packageName(platform);
  const [major, minor] = glibc.split('.').map(Number);
  const wants = glibcOf(file);
  const tooNew = wants !== undefined && (wants[0] > major || (wants[0] === major && wants[1] > minor));
  const manifest = {
    name,
    version: main.version,
    description: `The native part of millrace for ${os} on ${cpu} with ${fits.libc}.`,
    license: main.license,
    ...(tooNew && { private: true }),
    main: 'millrace.node',
    files: ['millrace.node'],
    os: [os],
    cpu: [cpu],
    libc: [fits.libc],
    engines: main.engines,
    preferUnplugged: true,
  };
  const folder = dirname(file);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(folder, 'README.md'), readme(name, fits));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  const why = tooNew ? `; private: it wants glibc ${wants.join('.')}, of a package it may be ${glibc}` : '';
  return `${name}@${main.version}${why}`;
}

/** Whether the main package knows it, in this version: else package managers that are strict do not let it load it. */
export function isPeer(platform) {
  const name = packageName(platform);
  return main.peerDependencies?.[name] === main.version && main.peerDependenciesMeta?.[name]?.optional === true;
}
