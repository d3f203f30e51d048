// Which characters of which files a test ran, from what V8 writes under NODE_V8_COVERAGE: one file a thread.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Later ranges lie inside earlier ones and know better, so painting them in order leaves the innermost on top. */
function paint(script, length) {
  const ran = new Uint8Array(length);
  for (const { ranges } of script.functions) {
    for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  }
  return ran;
}

/**
 * Reads the reports in `folder` into a map from file to a byte a character, 1 where it ran in any thread. Only of files
 * for which `lengthOf` knows a length.
 */
export function readCoverage(folder, lengthOf) {
  const covered = new Map();
  for (const name of readdirSync(folder)) {
    let report;
    try {
      report = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    } catch {
      continue; // a process that was killed while it wrote
    }
    for (const script of report.result ?? []) {
      if (!script.url.startsWith('file://')) continue;
      const file = fileURLToPath(script.url.replace(/[?#].*$/, ''));
      const length = lengthOf(file);
      if (length === undefined) continue;
      const ran = paint(script, length);
      const before = covered.get(file);
      if (before === undefined) covered.set(file, ran);
      else for (let i = 0; i < length; i++) before[i] |= ran[i];
    }
  }
  return covered;
}
