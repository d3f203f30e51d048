// What driver and page tell each other, as JSON.
import type { Setting } from '../contest.ts';
import type { Absent, Noise, ScenarioResults } from '../schema.ts';

export interface Assignment {
  readonly setting: Setting;
  readonly rounds?: number;
}

export interface PageReport {
  /** Of the whole, 0 to 1. */
  readonly share: number;
  /** What begins. */
  readonly title?: string;
  readonly found?: Found;
  readonly failed?: string;
}

export interface Found {
  readonly scenario: ScenarioResults;
  readonly noise: Noise;
  readonly absent: readonly Absent[];
  /** What the browser says of itself. */
  readonly agent: string;
}
