// A Chromium that is told what to do, by its DevTools protocol over a pipe: two file descriptors, JSON with a zero byte behind
// each message. Nothing need be installed for it, and Node 20, which has no WebSocket, will do.
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENGINES, programOf, removeProfile } from '../../test/browser/engines.mjs';

/** Milliseconds that any one command may take. */
const COMMAND_MS = 120_000;

/** What a page that is well never says; undefined for all else. */
function problemIn(method, { exceptionDetails, entry, type, args }) {
  if (method === 'Runtime.exceptionThrown') return exceptionDetails.exception?.description ?? exceptionDetails.text;
  if (method === 'Log.entryAdded' && entry.level === 'error') return `${entry.text} ${entry.url ?? ''}`;
  if (method === 'Runtime.consoleAPICalled' && type === 'error') return args.map((it) => it.value).join(' ');
  return undefined;
}

/**
 * Starts Chromium, headless, with one empty page.
 * @returns `send(method, parameters)`, whose promise is the answer; `problems`, the errors that the page has logged; `worklets()`, for
 *   each worklet that the page has started since it was first called a `send` of its own; `close`
 * @throws Error where there is no Chromium
 */
export async function openDevtools() {
  const engine = ENGINES.find(({ name }) => name === 'chromium');
  const program = programOf(engine);
  if (program === undefined) throw new Error('There is no Chromium (or name it in CHROMIUM)');
  const profile = mkdtempSync(join(tmpdir(), 'millrace-page-'));
  const [url, ...flags] = engine.arguments(profile, 'about:blank').reverse();
  const child = spawn(program, ['--remote-debugging-pipe', '--hide-scrollbars', ...flags, url], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: profile },
  });
  const gone = new Promise((resolve) => child.on('exit', resolve));
  const pending = new Map();
  const problems = [];
  const worklets = [];
  const heard = (method, params) => {
    if (method === 'Target.attachedToTarget' && params.targetInfo.type.endsWith('worklet')) {
      worklets.push((method, parameters) => sendTo(params.sessionId, method, parameters));
    }
    const problem = problemIn(method, params);
    if (problem !== undefined) problems.push(problem);
  };
  let text = '';
  child.stdio[4].setEncoding('utf8').on('data', (part) => {
    const messages = (text + part).split('\0');
    text = messages.pop();
    for (const message of messages) {
      const { id, result, error, method, params } = JSON.parse(message);
      if (method !== undefined) heard(method, params);
      pending.get(id)?.(result, error);
      pending.delete(id);
    }
  });
  let last = 0;
  const sendTo = (sessionId, method, params = {}) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      const late = setTimeout(() => reject(new Error(`${method}: no answer in ${COMMAND_MS / 1000} s`)), COMMAND_MS);
      pending.set(id, (result, error) => {
        clearTimeout(late);
        if (error === undefined) resolve(result);
        else reject(new Error(`${method}: ${error.message}`));
      });
      child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  const close = async () => {
    child.kill('SIGKILL');
    await gone;
    await removeProfile(profile);
  };
  try {
    const { targetId } = await sendTo(undefined, 'Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await sendTo(undefined, 'Target.attachToTarget', { targetId, flatten: true });
    for (const domain of ['Page', 'Runtime', 'Log']) await sendTo(sessionId, `${domain}.enable`);
    const send = (method, params) => sendTo(sessionId, method, params);
    const watched = async () => {
      await send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: true });
      return worklets;
    };
    return { send, problems, worklets: watched, close };
  } catch (error) {
    await close();
    throw error;
  }
}
