// Computes one state after the other without ever returning to its event loop, and posts each; ends when it is interrupted.
import { parentPort } from '../../src/index.ts';

export interface State {
  readonly step: number;
  /** When it was posted: milliseconds since 1970. */
  readonly at: number;
  readonly particles: readonly number[];
}

const port = parentPort<never, State>();
const particles = Array.from({ length: 100 }, (_, i) => i);
for (let step = 0; port.interrupted === 0; step++) {
  for (let i = 0; i < particles.length; i++) particles[i] = Math.sin((particles[i] as number) + step);
  port.postMessage({ step, at: performance.timeOrigin + performance.now(), particles });
}
port.close();
