// Whose pages may connect.
import { UsageError } from '../errors.ts';
import { show } from '../port/options.ts';
import type { UpgradeRequest } from '../transport/network/upgrade-request.ts';

export type Origins = readonly string[] | 'any' | undefined;

const FORBIDDEN = 403;

/** The status with which a request for a WebSocket is turned down: pages of another origin than the one that was asked come where the program has named them. */
export function refusedFor(origins: Origins, { origin, header }: UpgradeRequest): number | undefined {
  if (origin === undefined || origins === 'any' || origins?.includes(origin)) return undefined;
  return originOf(origin) !== undefined && new URL(origin).host === header('host') ? undefined : FORBIDDEN;
}

/** @throws UsageError ERR_OPTION */
export function checkOrigins(origins: Origins): Origins {
  if (origins === undefined || origins === 'any') return origins;
  const wrong = Array.isArray(origins) ? origins.find((each) => originOf(each) !== each) : origins;
  if (Array.isArray(origins) && wrong === undefined) return origins;
  const text = `Option origins cannot be ${show(wrong)}: it takes a list of origins, each like 'https://app.example' and no more, or 'any'`;
  throw new UsageError('ERR_OPTION', text, { option: 'origins', value: origins });
}
function originOf(text: unknown): string | undefined {
  try {
    return new URL(String(text)).origin;
  } catch {
    return undefined;
  }
}
