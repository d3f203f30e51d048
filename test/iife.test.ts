// The one-file builds for classic workers and script tags (tools/bundle.mjs), in a classic script context that has the
// web's globals and nothing of Node. Real browsers: test/browser/fixtures.mjs.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

const file = fileURLToPath(new URL('../iife/sab-message-port.global.js', import.meta.url));
const door = fileURLToPath(new URL('../src/compat/sab-message-port.js', import.meta.url));
const millrace = fileURLToPath(new URL('../iife/millrace.global.js', import.meta.url));
const WEB =
  `AbortController AbortSignal ArrayBuffer Atomics Blob BroadcastChannel DOMException Event EventTarget MessageChannel
  MessageEvent MessagePort SharedArrayBuffer TextDecoder TextEncoder URL clearTimeout console performance queueMicrotask
  setTimeout structuredClone`.split(/\s+/);

test('the one-file build is there if its door is', () => {
  assert.equal(existsSync(file), existsSync(door));
});

function script(code: string, path: string = file): unknown {
  const globals = Object.fromEntries(WEB.map((name) => [name, (globalThis as Record<string, unknown>)[name]]));
  const context = vm.createContext(globals);
  vm.runInContext(readFileSync(path, 'utf8'), context);
  return vm.runInContext(code, context);
}

if (existsSync(file)) {
  test('a classic script finds the three classes in SABMessagePortLib', () => {
    assert.equal(
      script('["SABPipe", "SABMessagePort", "MWChannel"].map((n) => typeof SABMessagePortLib[n]).join()'),
      'function,function,function',
    );
  });

  test('two ports made by a classic script carry messages', async () => {
    const arrived = script(`(async () => {
      const { SABMessagePort } = SABMessagePortLib;
      const a = new SABMessagePort();
      const [message] = a.postInit(null);
      const b = SABMessagePort.from(message);
      await a.postMessage({ text: 'žluť', list: [1, null, true] });
      const got = b.tryRead();
      const heard = new Promise((resolve) => { a.onmessage = (event) => resolve(event.data); });
      await b.postMessage(got);
      const text = JSON.stringify(await heard);
      a.close();
      b.close();
      return text;
    })()`);
    assert.equal(await arrived, '{"text":"žluť","list":[1,null,true]}');
  });
}

test('Millrace has the names of the front door, and those of calls under rpc', async () => {
  const names = (of: object): string[] => Object.keys(of).sort();
  const [front, calls] = await Promise.all([import('../src/index.ts'), import('../src/rpc/index.ts')]);
  const got = JSON.parse(
    script('JSON.stringify([Object.keys(Millrace).sort(), Object.keys(Millrace.rpc).sort()])', millrace) as string,
  );
  assert.deepEqual(got, [[...names(front), 'rpc'].sort(), names(calls)]);
});
