import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { arch, execPath, platform } from 'node:process';
import { after, test } from 'node:test';
import { interpreter, platformName } from './platform-name.ts';

const folder = mkdtempSync(join(tmpdir(), 'millrace-elf-'));
after(() => rmSync(folder, { recursive: true }));

/** A program of 64 bits that wants what is named, with its table of headers at the end, as patchelf may leave it. */
function program(named: string): string {
  const text = Buffer.from(`${named}\0`);
  const bytes = Buffer.alloc(64 + text.length + 2 * 56);
  const headers = 64 + text.length;
  text.copy(bytes, 64);
  bytes.writeBigUInt64LE(BigInt(headers), 0x20);
  bytes.writeUInt16LE(56, 0x36);
  bytes.writeUInt16LE(2, 0x38);
  bytes.writeUInt32LE(6, headers);
  bytes.writeUInt32LE(3, headers + 56);
  bytes.writeBigUInt64LE(64n, headers + 56 + 8);
  bytes.writeBigUInt64LE(BigInt(text.length), headers + 56 + 32);
  const file = join(folder, 'program');
  writeFileSync(file, bytes);
  return file;
}

test('a platform is named by the system, the processor, and the C library that the runtime itself has', () => {
  assert.ok(platformName().startsWith(`${platform}-${arch}`));
  // What else lies in /lib has no say: the runtimes that are tested are all made for the one.
  if (platform === 'linux') assert.equal(platformName().endsWith('-musl'), interpreter(execPath).includes('musl'));
});

test('what loads a program is read from its own file', () => {
  assert.equal(interpreter(program('/lib/ld-musl-x86_64.so.1')), '/lib/ld-musl-x86_64.so.1\0');
  assert.equal(interpreter(program('/lib64/ld-linux-x86-64.so.2')), '/lib64/ld-linux-x86-64.so.2\0');
});
