// The script of the page: each section for itself.
import { browser } from './browser.ts';
import { byId, make } from './dom.ts';
import { ending } from './ending.ts';
import { interrupting } from './interrupting.ts';
import { measuring } from './measuring.ts';
import { missing, support } from './support.ts';

const { name, version } = browser();
const isolated = crossOriginIsolated ? 'cross-origin isolated' : 'not isolated';
byId('browser').textContent = `${name} ${version}, ${navigator.hardwareConcurrency ?? '?'} threads, ${isolated}`;
const lacks = missing();
if (lacks !== undefined) {
  const notice = byId('missing');
  notice.append(
    make('b', {}, 'Without shared memory. '),
    lacks,
    ' Channels go over native MessagePorts here: everything works but what needs a thread that stands still.',
  );
  notice.hidden = false;
}
const plain = new URLSearchParams(location.search).has('plain');
byId('plain-link').append(
  make(
    'a',
    { href: plain ? '/' : '/?plain' },
    plain ? 'The same page with the headers' : 'The same page without the headers that isolate it',
  ),
);
interrupting();
ending();
await Promise.all([support(), measuring()]);
