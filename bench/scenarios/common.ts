// Rows that several scenarios need.
import type { Contestant, RowPlan, Setting } from '../contest.ts';
import type { LoadSpec, ValueName } from '../loads.ts';
import { flow, type Gauge } from '../sessions.ts';
import type { ThreadSubject } from '../subject.ts';
import { presentThreadSubjects } from '../subjects/list.ts';

export function specOfValue(value: ValueName): LoadSpec {
  return { form: 'object', size: 0, value };
}

/** Everybody who can stream this load. */
export async function streamers(setting: Setting, spec: LoadSpec, gauge: Gauge, burst?: number): Promise<Contestant[]> {
  const subjects = await presentThreadSubjects(setting);
  return subjects
    .filter((subject) => subject.forms.includes(spec.form))
    .map((subject) => flow({ subject, wait: streamWaitOf(subject), spec, options: setting.options, gauge, burst }));
}

export function streamWaitOf(subject: ThreadSubject): 'loop/loop' | 'loop/block' | 'block/block' {
  return subject.streamWait ?? subject.waits[0] ?? 'loop/block';
}

export function sizeName(bytes: number): string {
  if (bytes >= 1 << 20) return `${bytes >> 20} MiB`;
  return bytes >= 1024 ? `${bytes >> 10} KiB` : `${bytes} B`;
}

/** Keeps the rows that --payload names: by label, by size or by the value's name. */
export function chosen(setting: Setting, rows: readonly RowPlan[]): RowPlan[] {
  const kept = rows.filter((row) => row.contestants.length > 0);
  if (setting.payloads.length === 0) return kept;
  const names = new Set(setting.payloads);
  return kept.filter(
    (row) => names.has(row.label) || Object.values(row.params).some((part) => names.has(String(part))),
  );
}
