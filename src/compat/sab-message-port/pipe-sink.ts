// The writing end of a pipe's ring, as records go into it.
import type { RecordSink } from '../../lane/records.ts';
import type { Views } from '../../memory/region.ts';
import { type Bell, Producer } from '../../ring/producer.ts';
import type { PipeMemory } from './layout.ts';

export class PipeSink extends Producer implements RecordSink {
  declare readonly views: Views;

  constructor({ lane, views }: PipeMemory, bell: Bell) {
    super(lane, bell);
    this.views = views;
  }
}
