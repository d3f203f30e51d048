// Physical limits: the same work in C++, so that every table shows how far away the floor is.
import type { Contestant, Setting } from '../contest.ts';
import type { LoadSpec } from '../loads.ts';
import { type Gauge, messagesPerSecond } from '../sessions.ts';

export async function limitBytes(
  _setting: Setting,
  _spec: LoadSpec,
  _gauge: Gauge = messagesPerSecond,
): Promise<Contestant[]> {
  return [];
}
