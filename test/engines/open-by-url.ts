// A door by the kind of its server, for programs that tests start.
import type { Engine } from '../../src/engine/engine.ts';
import * as hub from '../../src/hub/index.ts';
import * as nats from '../../src/nats/index.ts';
import { connect } from '../../src/process/index.ts';
import * as redis from '../../src/redis/index.ts';

export async function openByUrl(kind: string, url: string): Promise<Engine> {
  if (kind === 'nats') return await nats.open(url);
  return kind === 'redis' || kind === 'cluster' ? await redis.open(url) : await hub.open(() => connect(url));
}
