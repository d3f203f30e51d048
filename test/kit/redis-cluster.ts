// A cluster of Redis for tests: three nodes that share the slots, replicas, and slots that move.
import { connect } from 'node:net';
import { type EngineServer, freePort, startServer } from './engine-servers.ts';
import { untilSo } from './watchdog.ts';

const SLOTS = 16384;
const NODES = 3;
/** A node that is not there is given up soon, and a replica is there for it at once. */
const OPTIONS =
  '--cluster-enabled yes --cluster-node-timeout 1000 --cluster-replica-validity-factor 0 --repl-diskless-sync-delay 0';

/** What a node says to one command. */
export async function askNode(port: number, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${command}\r\n`);
  let said = '';
  try {
    for await (const bytes of socket) {
      said += String(bytes);
      if (isWhole(said)) break;
    }
  } finally {
    socket.destroy();
  }
  if (said.startsWith('-')) throw new Error(`${command}: ${said}`);
  return said;
}

/** Of what is asked here: a line, a text, or a list of one text at the most. */
function isWhole(said: string): boolean {
  const [, text] = /^(?:\*1\r\n)?(\$.*)$/s.exec(said) ?? [];
  if (text === undefined) return said.endsWith('\r\n') && !said.startsWith('*1');
  const end = text.indexOf('\r\n');
  return end >= 0 && text.length >= end + 2 + Number(text.slice(1, end)) + 2;
}

export class RedisCluster implements EngineServer {
  readonly kind = 'cluster';
  readonly more: string[];
  readonly nodes: EngineServer[] = [];
  #formed = false;

  readonly #own: () => Promise<string[]>;

  /** @param own what each node is started with beside it */
  constructor(more: readonly string[] = [], own: () => Promise<string[]> = async () => []) {
    this.more = [...more];
    this.#own = own;
  }

  get port(): number {
    return this.#node(0).port;
  }
  get url(): string {
    return this.#node(0).url;
  }
  #node(index: number): EngineServer {
    return this.nodes[index] as EngineServer;
  }
  async start(): Promise<void> {
    if (this.nodes.length === 0) for (let i = 0; i < NODES; i++) await this.#another();
    else await Promise.all(this.nodes.map((node) => node.start()));
    if (!this.#formed) await this.#form();
    await this.whole();
  }
  /** One more process, of which the others know nothing. */
  async #another(): Promise<EngineServer> {
    const own = ['--cluster-port', String(await freePort()), ...(await this.#own())];
    const node = await startServer('redis', [...OPTIONS.split(' '), ...own, ...this.more]);
    this.nodes.push(node);
    return node;
  }
  async #form(): Promise<void> {
    const share = Math.ceil(SLOTS / NODES);
    for (let i = 0; i < NODES; i++) {
      const last = Math.min((i + 1) * share, SLOTS) - 1;
      await askNode(this.#node(i).port, `CLUSTER ADDSLOTSRANGE ${i * share} ${last}`);
      await askNode(this.#node(i).port, `CLUSTER SET-CONFIG-EPOCH ${i + 1}`);
      if (i > 0) await this.#meet(this.#node(i));
    }
    this.#formed = true;
  }
  async #meet(node: EngineServer): Promise<void> {
    const bus = node.more[node.more.indexOf('--cluster-port') + 1];
    await askNode(this.port, `CLUSTER MEET 127.0.0.1 ${node.port} ${bus}`);
  }
  /** All who are there know all slots. */
  async whole(nodes: readonly EngineServer[] = this.nodes): Promise<void> {
    await untilSo('the cluster is whole', async () => {
      const said = await Promise.all(nodes.map(({ port }) => askNode(port, 'CLUSTER INFO').catch(() => '')));
      return said.every(
        (each) => each.includes('cluster_state:ok') && each.includes(`known_nodes:${this.nodes.length}`),
      );
    });
  }
  async idOf(node: EngineServer): Promise<string> {
    return /[0-9a-f]{40}/.exec(await askNode(node.port, 'CLUSTER MYID'))?.[0] as string;
  }
  /** A node that does what another one has done, once that is lost. */
  async addReplica(of: EngineServer): Promise<EngineServer> {
    const node = await this.#another();
    await this.#meet(node);
    await this.whole();
    const id = await this.idOf(of);
    await untilSo('it knows whose replica it is to be', async () =>
      (await askNode(node.port, `CLUSTER REPLICATE ${id}`).catch(() => '')).startsWith('+OK'),
    );
    await untilSo('all know of it', async () => {
      const known = await Promise.all(this.nodes.map(({ port }) => askNode(port, 'CLUSTER NODES')));
      return known.every((said) => said.includes(`slave ${id}`));
    });
    // Before it says so itself, and the replica has answered once, the master keeps what is written for it.
    await untilSo('its master has it online', async () =>
      (await askNode(of.port, 'INFO replication')).includes('state=online'),
    );
    return node;
  }
  /** A replica has all that its master was told until now. WAIT waits for what was written on its own connection alone. */
  async isAsFar(replica: EngineServer, master: EngineServer): Promise<void> {
    const offsetOf = async ({ port }: EngineServer): Promise<number> =>
      Number(/^master_repl_offset:(\d+)/m.exec(await askNode(port, 'INFO replication'))?.[1]);
    const written = await offsetOf(master);
    await untilSo('the replica is as far', async () => (await offsetOf(replica)) >= written);
  }
  /** The node that has a slot. */
  async ownerOf(slot: number): Promise<EngineServer> {
    for (const node of this.nodes) {
      const said = await askNode(node.port, 'CLUSTER NODES').catch(() => '');
      const [, ...ranges] =
        / connected (.*)/.exec(said.split('\n').find((line) => line.includes('myself')) ?? '') ?? [];
      for (const range of (ranges[0] ?? '').split(' ')) {
        const [from, to = from] = range.split('-').map(Number);
        if (from !== undefined && to !== undefined && from <= slot && slot <= to) return node;
      }
    }
    throw new Error(`no node has slot ${slot}`);
  }
  /** A slot, and what is in it, goes to another node. */
  async moveSlot(slot: number, to: EngineServer, meanwhile: () => Promise<void> = async () => {}): Promise<void> {
    const from = await this.ownerOf(slot);
    const [fromId, toId] = [await this.idOf(from), await this.idOf(to)];
    await askNode(to.port, `CLUSTER SETSLOT ${slot} IMPORTING ${fromId}`);
    await askNode(from.port, `CLUSTER SETSLOT ${slot} MIGRATING ${toId}`);
    await meanwhile();
    for (;;) {
      const said = await askNode(from.port, `CLUSTER COUNTKEYSINSLOT ${slot}`);
      if (said.startsWith(':0')) break;
      const [, , key] = (await askNode(from.port, `CLUSTER GETKEYSINSLOT ${slot} 1`)).split('\r\n');
      await askNode(from.port, `MIGRATE 127.0.0.1 ${to.port} "${key}" 0 5000`);
    }
    for (const node of [to, from, ...this.nodes.filter((each) => each !== to && each !== from)])
      await askNode(node.port, `CLUSTER SETSLOT ${slot} NODE ${toId}`).catch((error: Error) => {
        // Replicas are told by who they follow.
        if (!/master/i.test(error.message)) throw error;
      });
  }
  async kill(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
  }
  async freeze(frozen: boolean): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.freeze(frozen)));
  }
  /** It has to be made anew. */
  forget(): void {
    for (const node of this.nodes) node.forget();
    this.#formed = false;
  }
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
  member(): never {
    throw new Error('whoever is in another process connects');
  }
}
