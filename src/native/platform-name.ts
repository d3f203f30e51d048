// What packages and folders of the addon are named by: `linux-x64`, `linux-arm64-musl`, `darwin-arm64`. Which C library a runtime has been linked with its own file says, in the name of
// its interpreter (PT_INTERP of ELF): a machine may have both.
import { closeSync, openSync, readSync } from 'node:fs';
import { arch, execPath, platform as system } from 'node:process';

const PROGRAM_HEADERS = 0x20;
const HEADER_BYTES = 0x36;
const HEADERS = 0x38;
const PT_INTERP = 3;

/** @throws what the system says of a file that cannot be read */
export function platformName(): string {
  return `${system}-${arch}${system === 'linux' && interpreter(execPath).includes('ld-musl-') ? '-musl' : ''}`;
}

/** What loads a program of 64 bits; nothing where it is linked whole. */
export function interpreter(file: string): string {
  const descriptor = openSync(file, 'r');
  const read = (position: number, bytes: number): Buffer => {
    const buffer = Buffer.alloc(bytes);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, bytes, position));
  };
  try {
    const head = read(0, 64);
    const [bytes, count] = [head.readUInt16LE(HEADER_BYTES), head.readUInt16LE(HEADERS)];
    const headers = read(Number(head.readBigUInt64LE(PROGRAM_HEADERS)), bytes * count);
    for (let at = 0; at < headers.length; at += bytes) {
      if (headers.readUInt32LE(at) !== PT_INTERP) continue;
      return read(Number(headers.readBigUInt64LE(at + 8)), Number(headers.readBigUInt64LE(at + 32))).toString('latin1');
    }
    return '';
  } finally {
    closeSync(descriptor);
  }
}
