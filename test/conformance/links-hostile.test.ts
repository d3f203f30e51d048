// What a thread that lies about whose name it bears can do to the link of two others: nothing. The liar is written against raw
// messages, here; the two others are threads with this library.
// neighbours: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, channel, pair, type Remote, transferOf } from '../../src/index.ts';
import { AGENT_PAGE_BYTES, LINK_PAGE_BYTES } from '../../src/link/layout.ts';
import { ownAgent } from '../../src/link/own-agent.ts';
import { createLifePage, tellEnded } from '../../src/memory/life-page.ts';
import { startThread, type TestThread } from '../kit/thread.ts';
import { turn, until } from '../kit/watchdog.ts';

const HEAR = 1;
const FOUNDER = 0;
const FOUND = 17;
const FOUNDED = 18;
const JOIN = 19;
const JOINED = 20;
const DECLINED = 21;
const LAST = 22;

interface RawPort {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

/** The native ports of a handle, in the hands of somebody who says what he likes. */
class RawLine {
  readonly heard: (readonly unknown[])[] = [];
  /** Held: a handle that its maker lets go of, and that was not posted, ends its channel. */
  readonly #handle: Pick<Remote, 'tether' | 'side'>;
  #onHear: (() => void) | undefined;

  constructor(handle: Pick<Remote, 'tether' | 'side'>) {
    this.#handle = handle;
    this.#side.onmessage = ({ data }) => {
      this.heard.push(data as readonly unknown[]);
      this.#onHear?.();
    };
  }

  get #tether(): RawPort {
    return this.#handle.tether as RawPort;
  }
  get #side(): RawPort {
    return this.#handle.side as RawPort;
  }

  say(...message: readonly unknown[]): void {
    this.#side.postMessage(message);
    this.#tether.postMessage(HEAR);
  }
  /** The first of that kind. */
  async next(kind: number): Promise<readonly unknown[]> {
    for (;;) {
      const found = this.heard.find((message) => message[0] === kind);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#onHear = resolve;
      });
    }
  }
  close(): void {
    this.#tether.close();
    this.#side.close();
  }
}

/** Makes two channels, and uses them when asked to. What it posts goes natively, for the sake of what moves. */
function startMaker(): TestThread {
  return startThread(async (stage) => {
    const { channel } = stage.millrace;
    const [first, second] = [channel(), channel()];
    stage.say([first.remote, second.remote], [...first.remote.transfer, ...second.remote.transfer]);
    for (;;) {
      const order = await stage.hear();
      if (order === 'post') {
        first.port.postMessage({ for: 'the user' }, [new ArrayBuffer(8)]);
        second.port.postMessage({ for: 'the liar' }, [new ArrayBuffer(8)]);
        stage.say('posted');
      } else if (order === 'receive') {
        const got = (await first.port.receiveAsync()) as { for: string };
        stage.say(got.for);
      } else if (order === 'block') {
        try {
          stage.say(String(first.port.receive({ timeoutMs: 50 })));
        } catch (error) {
          stage.say(String(error));
        }
      } else return 'done';
    }
  });
}
/** Attaches the maker's first channel, and then the liar's. */
function startUser(): TestThread {
  return startThread(async (stage) => {
    const { attach } = stage.millrace;
    stage.say('ready');
    const first = attach(await stage.hear());
    await first.receiveAsync({ timeoutMs: 100 }).catch(() => {});
    stage.say(stage.millrace.channel().remote.agent);
    const second = attach(await stage.hear());
    stage.say('attached');
    for (;;) {
      const order = await stage.hear();
      if (order === 'post') {
        first.postMessage({ for: 'the maker' }, [new ArrayBuffer(8)]);
        second.postMessage({ for: 'the liar' }, [new ArrayBuffer(8)]);
        stage.say('posted');
      } else if (order === 'receive') {
        const got = (await first.receiveAsync()) as { for: string };
        stage.say(got.for);
      } else return 'done';
    }
  });
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

/** Two threads with a link, and a liar who has given the user a handle in the maker's name, and has one of the maker's. */
async function stageLies() {
  const [maker, user] = [startMaker(), startUser()];
  const [first, second] = (await maker.next()) as [Remote, Remote];
  await user.next();
  const { agent: makerCard } = first;
  user.tell(first, transferOf(first));
  const userCard = await user.next();
  const [mine, its] = pair();
  const toUser = new RawLine(mine);
  const toMaker = new RawLine(second);
  user.tell({ ...its, agent: makerCard }, transferOf(its));
  await user.next();
  const ask = async (thread: TestThread, order: string): Promise<unknown> => {
    thread.tell(order);
    return await thread.next();
  };
  const done = async (): Promise<void> => {
    for (const thread of [maker, user]) thread.tell('end');
    for (const thread of [maker, user]) assert.equal(await thread.done(), 'done');
    for (const line of [toUser, toMaker]) line.close();
  };
  return { maker, user, toUser, toMaker, makerCard, userCard, ask, done };
}

test('who claims the name of another thread directs nothing to its channels', async () => {
  const { maker, user, toUser, makerCard, ask, done } = await stageLies();
  const [, , name] = await toUser.next(JOIN);
  toUser.say(JOINED, FOUNDER, name, FOUNDER, null, makerCard);
  await turns(20);
  assert.equal(await ask(user, 'post'), 'posted');
  await turns(20);
  assert.equal(await ask(maker, 'receive'), 'the maker');
  await done();
});

test('what a thread said to who claims a name is no key to the one who bears it', async () => {
  const { maker, user, toUser, toMaker, userCard, ask, done } = await stageLies();
  const [, , name] = await toUser.next(JOIN);
  toMaker.say(JOIN, FOUNDER, name, FOUNDER, null, userCard);
  await turns(20);
  toMaker.say(LAST, FOUNDER, null, userCard);
  await turns(20);
  assert.equal(await ask(maker, 'post'), 'posted');
  await turns(20);
  assert.equal(await ask(user, 'receive'), 'the user');
  await done();
});

test('nobody speaks of the life of another thread', async () => {
  const { maker, toUser, toMaker, userCard, ask, done } = await stageLies();
  const [, , name] = await toUser.next(JOIN);
  const life = createLifePage();
  tellEnded(life, 'crash');
  toMaker.say(JOIN, FOUNDER, name, FOUNDER, life, userCard);
  await turns(20);
  assert.equal(await ask(maker, 'block'), 'Symbol(millrace.EMPTY)');
  await done();
});

test('who asks for a link again and again is answered once', async () => {
  const { port, remote } = channel();
  const line = new RawLine(remote);
  const card = { id: 'somebody', page: new SharedArrayBuffer(AGENT_PAGE_BYTES) };
  for (let i = 0; i < 1000; i++) line.say(JOIN, FOUNDER, `sign ${i}`, null, card);
  await line.next(DECLINED);
  await turns(20);
  assert.equal(line.heard.length, 1);
  line.say(FOUND, FOUNDER, new SharedArrayBuffer(LINK_PAGE_BYTES), null, card);
  await line.next(FOUNDED);
  line.say(FOUND, FOUNDER, new SharedArrayBuffer(LINK_PAGE_BYTES), null, card);
  await turns(20);
  assert.equal(line.heard.length, 2);
  port.close();
  line.close();
});

test('a hundred handles in a wrong name become a hundred links, and none of them stays', async () => {
  const COUNT = 100;
  const bearer = startMaker();
  const [first, second] = (await bearer.next()) as [Remote, Remote];
  const ports = [attach(first), attach(second)];
  const before = ownAgent().links.length;
  const liar = startThread(
    async (stage) => {
      const own = Array.from({ length: stage.data as number }, () => stage.millrace.channel({ capacityBytes: 1024 }));
      const honest = stage.millrace.channel();
      const all = [honest, ...own].map(({ remote }) => remote);
      stage.say(
        all,
        all.flatMap(({ transfer }) => transfer),
      );
      for (const { port } of own) port.postMessage(await port.receiveAsync());
      await honest.port.receiveAsync();
      return 'done';
    },
    { data: COUNT },
  );
  const [honest, ...forged] = (await liar.next()) as [Remote, ...Remote[]];
  const one = attach(honest);
  await until('there is a link with the liar', () => ownAgent().links.length > before);
  const many = forged.map((remote) => attach({ ...remote, agent: first.agent }));
  for (const port of many) port.postMessage({ moved: true }, [new ArrayBuffer(8)]);
  for (const port of many) assert.deepEqual(await port.receiveAsync(), { moved: true });
  await until('each has a link of its own', () => ownAgent().links.length >= before + 1 + COUNT);
  for (const port of many) port.close();
  one.postMessage('enough');
  assert.equal(await liar.done(), 'done');
  one.close();
  await until('the links are gone', () => ownAgent().links.length <= before);
  bearer.tell('end');
  assert.equal(await bearer.done(), 'done');
  for (const port of ports) port.close();
});
