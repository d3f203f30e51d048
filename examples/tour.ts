// `npm start`: six small programs, one after the other. Each also runs by itself: node dist/examples/<name>.js
import { backPressure } from './back-pressure.ts';
import { calls } from './calls.ts';
import { indexing } from './indexing.ts';
import { liveTable } from './live-table.ts';
import { peerDeath } from './peer-death.ts';
import { richValues } from './rich-values.ts';
import { bold, dim, heading, say } from './screen.ts';

console.log(bold('Millrace: message ports that can be read synchronously, push back, and never hang.'));
console.log(dim(`${process.release.name} ${process.version}, ${process.arch} ${process.platform}`));
const start = performance.now();
await indexing();
await backPressure();
await peerDeath();
await calls();
await richValues();
await liveTable();
heading(`That was the tour, in ${((performance.now() - start) / 1000).toFixed(0)} seconds.`);
say('Next: README.md for the three examples to start from, ARCHITECTURE.md for how it works.');
