// Programs for thread-process.test.ts: each shows how long a port keeps its process alive (G8), or what becomes of an
// exception. The peer thread is unref'd, so nothing but the port holds the process. Argument: the case.
import process from 'node:process';
import { MessageChannel } from 'node:worker_threads';
import { attach, channel, type Port, type Remote } from '../../src/index.ts';
import { KeepAlive } from '../../src/platform/keep-alive.ts';
import { throughLittleStack } from '../kit/little-stack.ts';
import { type Role, startThread, type TestThread } from '../kit/thread.ts';
import { turn } from '../kit/watchdog.ts';

const print = (text: string): void => console.log(text);

function far(role: Role): { port: Port; thread: TestThread } {
  const { port, remote } = channel({ capacityBytes: 1024 });
  const thread = startThread(role, { remote });
  thread.worker.unref();
  return { port, thread };
}
/** Says something after the program would long have ended, if nothing held it. */
const late: Role = (stage) => {
  const port = stage.port();
  setTimeout(() => port.postMessage('late'), 300);
  return new Promise(() => {});
};
const silent: Role = (stage) => {
  stage.port().on('message', () => {});
};

/** What keeps a process alive, where the runtime tells. */
const HELD = /MessagePort/;

const cases: Record<string, () => unknown> = {
  idle: () => {
    far(silent);
  },
  'a listener': () => {
    const { port } = far(late);
    port.on('message', (value) => {
      print(`got ${value}`);
      port.close();
    });
  },
  'a listener, unref': () => {
    far(silent)
      .port.on('message', () => {})
      .unref();
  },
  'a listener, unref, ref': () => {
    const { port } = far(late);
    port.on('message', (value) => {
      print(`got ${value}`);
      port.close();
    });
    port.unref().ref();
  },
  'a listener that was removed': () => {
    const { port } = far(silent);
    const listener = (): void => {};
    port.on('message', listener);
    setTimeout(() => port.off('message', listener), 20);
  },
  'a listener on a port that was closed': () => {
    const { port } = far(silent);
    port.on('message', () => {});
    setTimeout(() => port.close(), 20);
  },
  'a listener whose peer ends': () => {
    const { port } = far((stage) => {
      stage.port().postMessage('last words');
    });
    port.on('message', (value) => print(`got ${value}`));
    port.on('close', (reason) => print(`closed: ${reason}`));
  },
  'a pending receive': () => {
    void far(late)
      .port.receiveAsync()
      .then((value) => print(`got ${String(value)}`));
  },
  'a pending receive with a time limit': () => {
    void far(silent)
      .port.receiveAsync({ timeoutMs: 200 })
      .then((value) => print(`got ${String(value)}`));
  },
  'a pending flush': () => {
    const { port } = far((stage) => {
      const port = stage.port();
      setTimeout(() => port.receive(), 300);
      return new Promise(() => {});
    });
    port.postMessage('to be taken');
    void port.flush().then(() => print('flushed'));
  },
  'an outbox that is not empty': () => {
    const { port, thread } = far((stage) => {
      const port = stage.port();
      let count = 0;
      setTimeout(() => {
        port.on('message', () => {
          if (++count === 500) port.postMessage('all came');
        });
      }, 300);
    });
    for (let i = 0; i < 500; i++) port.postMessage(i);
    void thread;
    void port.receiveAsync().then((value) => print(`got ${String(value)}`));
  },
  'what comes by way of a thread that was left, behind the end': () => {
    const { port: control, thread } = far(({ port, millrace, gates, pause }) => {
      const control = port();
      const end = millrace.attach(control.receive() as Remote);
      gates.pass(0);
      control.postMessage(end, [end]);
      gates.open(1);
      pause(300);
    });
    const { port: peer, remote } = channel();
    control.postMessage(remote, remote.transfer);
    const { port2 } = new MessageChannel();
    const value = {
      port2,
      get i(): number {
        // It goes to where the other end no longer is.
        thread.gates.open(0);
        thread.gates.pass(1);
        return 7;
      },
    };
    peer.postMessage(value, [port2]);
    peer.close();
    const end = control.receive() as Port;
    void end.receiveAsync().then((value) => print(`got ${(value as { i: number }).i}`));
    void end.receiveAsync().then((value) => print(`got ${String(value)}`));
  },
  'ports that were closed where the stack ended': async () => {
    for (const spare of [...Array(14).keys()]) {
      for (let skipped = 0; skipped < 20; skipped++) {
        const { port, remote } = channel({ capacityBytes: 1024 });
        attach(remote);
        port.on('message', () => {});
        throughLittleStack(spare, skipped, () => port.close());
        await turn();
        // The next one would let go for this one, too.
        if (HELD.test(process.getActiveResourcesInfo().join())) print(`held after ${skipped} returns, spare ${spare}`);
      }
    }
  },
  'what was let go where the stack ended': () => {
    for (const spare of [...Array(14).keys()]) {
      for (let skipped = 0; skipped < 20; skipped++) {
        const keepAlive = new KeepAlive();
        keepAlive.want(true);
        throughLittleStack(spare, skipped, () => keepAlive.want(false));
      }
    }
  },
  'handlers that throw': () => {
    const { port, thread } = far((stage) => {
      const port = stage.port();
      for (let i = 1; i <= 3; i++) port.postMessage(i);
      port.receive();
    });
    void thread;
    process.on('uncaughtException', (error) => print(`uncaught ${error.message}`));
    port.onmessage = ({ data }) => {
      throw new Error(`onmessage of ${data}`);
    };
    port.on('message', (value) => {
      if (value === 2) throw new Error(`a listener of ${value}`);
    });
    port.on('message', (value) => {
      print(`got ${value}`);
      if (value === 3) setTimeout(() => port.close(), 50);
    });
  },
};

const chosen = cases[process.argv[2] ?? ''];
if (chosen === undefined) throw new Error(`no such case; there are ${Object.keys(cases).join(', ')}`);
chosen();
