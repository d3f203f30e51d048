// The parts of faults.ts that other threads play. Their text travels: nothing here may use what stands outside of it.
import type { Port } from '../../src/index.ts';
import type { Role } from '../kit/thread.ts';

/**
 * The thread that ends. Gates: 0 committed messages, 1 ready, 2 when it ended by itself, 3 the case is over (on Deno a
 * thread that computes goes on after it was terminated).
 */
export const victim: Role = (stage) => {
  const { activity, end, after, zero, creates } = stage.data;
  let port: Port;
  if (creates) {
    const made = stage.millrace.channel({ capacityBytes: 1024 });
    port = made.port;
    stage.say(made.remote, made.remote.transfer);
  } else port = stage.port();
  // A port that nobody holds any more may end as `dropped` right before its thread does.
  Object.assign(globalThis, { heldPort: port });
  const byItself = end !== 'terminate';
  const die = (): void => {
    stage.gates.set(2, Math.max(1, Math.round((performance.timeOrigin + performance.now() - zero) * 1000)));
    if (end === 'exit') stage.exit();
    if (end === 'throw') stage.crash();
    if (end === 'close') port.close();
    port.unref();
  };
  let count = 0;
  const committed = (): boolean => {
    stage.gates.set(0, ++count);
    stage.gates.set(1, 1);
    if (stage.gates.get(3) !== 0) throw new Error('the case is over');
    return byItself && count >= after;
  };
  // Of a thread that is killed only what stands in the ring counts; one that ends by itself also delivers its outbox.
  const put = (value: unknown): void => {
    if (byItself) port.postMessage(value);
    else port.send(value);
  };
  if (activity === 'sending' || activity === 'large') {
    const tail = activity === 'large' ? 'x'.repeat(5000) : '';
    for (;;) {
      put(`${count} ${tail}`);
      if (committed()) return die();
    }
  }
  if (activity === 'moving') {
    for (;;) {
      const buffer = new ArrayBuffer(64);
      new Int32Array(buffer)[0] = count;
      if (byItself) port.postMessage(buffer, [buffer]);
      else while (stage.gates.get(3) === 0 && !port.trySend(buffer, [buffer])) stage.pause(1);
      if (committed()) return die();
    }
  }
  if (activity === 'corked') {
    for (;;) {
      let enough = false;
      port.cork(() => {
        for (let i = 0; i < 5; i++) put(`${count + i} `);
      });
      for (let i = 0; i < 5; i++) enough = committed() || enough;
      if (enough) return die();
    }
  }
  stage.gates.set(1, 1);
  if (activity === 'receiving') {
    while (!byItself || count++ < after) {
      if (port.receive({ timeoutMs: byItself ? 1 : 1e9 }) === stage.millrace.CLOSED) break;
    }
    return byItself ? die() : undefined;
  }
  if (activity === 'busy') {
    const enough = performance.now() + after / 10;
    while (stage.gates.get(3) === 0 && (!byItself || performance.now() < enough));
    return byItself ? die() : undefined;
  }
  port.on('message', () => {});
  if (byItself) setTimeout(die, after / 10);
};

/** A survivor that blocks: in `receive`, or in `send` until the end and in `receive` from then on. */
export const blockedSurvivor: Role = async (stage) => {
  const { mode, zero, limitMs, creates } = stage.data;
  let port: Port;
  if (creates) {
    const made = stage.millrace.channel({ capacityBytes: 1024 });
    port = made.port;
    stage.say(made.remote, made.remote.transfer);
  } else port = stage.port();
  const here = (): number => performance.timeOrigin + performance.now() - zero;
  const read: unknown[] = [];
  let error: string | undefined;
  let noticed = 0;
  stage.gates.set(1, 1);
  if (mode === 'send') {
    try {
      while (port.send('y'.repeat(300), { timeoutMs: limitMs }));
      error = 'hang: send() timed out';
    } catch (thrown) {
      error = `${(thrown as { code?: string }).code ?? thrown}`;
    }
    noticed = here();
  }
  for (;;) {
    const value = port.receive({ timeoutMs: limitMs });
    if (value === stage.millrace.CLOSED) break;
    if (value === stage.millrace.EMPTY) {
      error = 'hang: receive() timed out';
      break;
    }
    read.push(value instanceof ArrayBuffer ? new Int32Array(value)[0] : value);
  }
  if (mode === 'receive') noticed = here();
  const never = new Promise((resolve) => setTimeout(resolve, limitMs, 'hang: closed is never settled'));
  const reason = await Promise.race([port.closed, never]);
  return { read, error, reason, noticed };
};

/** The same role with a port from a handle that the test tells it. */
export function relayed(role: Role): Role {
  const text = `async (stage) => {
    const remote = await stage.hear();
    return (${role.toString()})({ ...stage, port: () => stage.millrace.attach(remote) });
  }`;
  return Object.assign(() => {}, { toString: () => text });
}
