// Inside a frame of policies.ts, under the policy that its address names: which workers start there. It has no checks.
import { spawn } from '../../../src/index.ts';
import { start } from '../../../src/rpc/index.ts';
import type { Api } from './policy-calls.ts';

export interface Outcomes {
  readonly blocking: string;
  readonly calls: string;
  readonly blob: string;
}

interface Policies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): unknown;
}
const { trustedTypes } = globalThis as { readonly trustedTypes?: Policies };
if (new URLSearchParams(location.search).has('trusting')) {
  trustedTypes?.createPolicy('default', {
    createScriptURL(url) {
      if (new URL(url, location.href).origin !== location.origin) throw new TypeError(`${url} is not ours`);
      return url;
    },
  });
}

async function echoed(make: () => Worker): Promise<string> {
  const { port, worker } = spawn(make);
  worker.addEventListener('error', (event) => event.preventDefault());
  await port.ready;
  port.postMessage('echo');
  const answer = String(await port.receiveAsync());
  port.close();
  worker.terminate();
  return answer;
}
/** What it resolves with, or what was thrown: its name or code, and what lies behind. */
const outcome = (task: () => Promise<string>): Promise<string> =>
  task().catch(({ name, code, reason, cause }) =>
    [
      typeof code === 'string' ? code : name,
      ...(reason === undefined ? [] : [reason]),
      ...(cause === undefined ? [] : [cause.message]),
    ].join(': '),
  );

const text = `import { parentPort } from '${location.origin}/src/index.js';
  const port = parentPort();
  await port.ready;
  for (const value of port.blocking()) port.postMessage(value);`;
const outcomes: Outcomes = {
  blocking: await outcome(() =>
    echoed(() => new Worker(new URL('./policy-worker.js', import.meta.url), { type: 'module' })),
  ),
  calls: await outcome(async () => {
    const { api, worker } = await start<Api, Worker>(
      () => new Worker(new URL('./policy-calls.js', import.meta.url), { type: 'module' }),
    );
    const sum = await api.add(1, 2);
    worker.terminate();
    return String(sum);
  }),
  blob: await outcome(() =>
    echoed(() => new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })), { type: 'module' })),
  ),
};
parent.postMessage(outcomes, location.origin);
