import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANSWER_HEADER } from '../limits.ts';
import { fetchSync } from './fetch-sync.ts';

/** Plays XMLHttpRequest, and returns the addresses that `body` asked. */
function asked(body: () => void): string[] {
  const urls: string[] = [];
  class Played {
    readonly status = 200;
    readonly response = new ArrayBuffer(3);
    open(_method: string, url: string): void {
      urls.push(url);
    }
    send(): void {}
    getResponseHeader(name: string): string | null {
      return name === ANSWER_HEADER ? '1' : null;
    }
  }
  const scope = globalThis as { XMLHttpRequest?: unknown; origin?: string };
  const { XMLHttpRequest, origin } = scope;
  Object.assign(scope, { XMLHttpRequest: Played, origin: 'https://a.example' });
  try {
    body();
  } finally {
    Object.assign(scope, { XMLHttpRequest, origin });
  }
  return urls;
}

test('what a handle says is asked for of our own origin alone, and at no other address there', () => {
  const own = 'https://a.example/.millrace/read?client=1';
  const urls = asked(() => {
    const answer = fetchSync(own);
    assert.deepEqual([answer?.status, answer?.ours, answer?.bytes.length], [200, true, 3]);
    for (const url of [
      'https://b.example/.millrace/read',
      'https://a.example.b.example/.millrace/read',
      'https://a.example/account/delete?.millrace/read',
      '/.millrace/read',
      'data:,.millrace/read',
      '',
    ])
      assert.equal(fetchSync(url), undefined, url);
  });
  assert.deepEqual(urls, [own]);
});
