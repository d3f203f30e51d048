// A process that was started with a pipe, for pipe.test.ts. Argument: what to do with it.
import process from 'node:process';
import { connect, type Port } from '../../src/process/index.ts';

const [what = '', address = 'pipe:3'] = process.argv.slice(2);

async function code(of: () => Promise<Port>): Promise<string> {
  return of().then(
    () => 'connected',
    (error: { code?: string; message: string }) => `${error.code} ${error.message}`,
  );
}

if (what === 'refused') console.log(await code(() => connect(address)));
else if (what === 'never') setTimeout(() => process.exit(3), 20);
else {
  const port = await connect<unknown, unknown>(address);
  port.on('message', async (value: unknown) => {
    if (value === 'again') port.postMessage(await code(() => connect(address)));
    else if (value === 'exit') {
      for (let i = 0; i < 50; i++) port.postMessage(i);
      process.exit(7);
    } else if (value === 'close') port.close();
    else port.postMessage(value);
  });
  if (what === 'says') port.postMessage('first');
}
