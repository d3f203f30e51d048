// A worker that looks at itself: what it can do is not what its page can.
import { features } from '../../src/index.ts';

export interface Findings {
  readonly blocking: boolean;
  readonly eventLoopWait: string;
  readonly nested: boolean;
}

const { blocking, eventLoopWait } = features();
const findings: Findings = { blocking, eventLoopWait, nested: typeof Worker === 'function' };
postMessage(findings);
