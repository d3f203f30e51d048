// The words of `millrace bench --help`.
import { scenarios } from './scenarios/list.ts';
import { callFamilies } from './subjects/call-list.ts';
import { threadFamilies } from './subjects/list.ts';
import { processFamilies } from './subjects/process-list.ts';

const WIDTH = 78;
const INDENT = ' '.repeat(24);

/** Names in lines that fit beside the options. */
function names(list: readonly string[]): string {
  const lines = [''];
  for (const name of list) {
    const last = lines.at(-1)!;
    if (last === '') lines[lines.length - 1] = name;
    else if (`${last}, ${name}`.length > WIDTH) lines.push(name);
    else lines[lines.length - 1] = `${last}, ${name}`;
  }
  return lines.join(`,\n${INDENT}`);
}

export const HELP: string = `millrace bench: the tables of the README, measured on this machine

  --scenario a,b        ${names(scenarios.map((scenario) => scenario.name))}
  --subjects a,b        contenders by name or its beginning: native-port takes native-port:json too, millrace all of ours
                        between threads:
                        ${names(threadFamilies)}
                        calls:
                        ${names(callFamilies)}
                        between processes:
                        ${names(processFamilies)}
                        limits in C++: cpp-ring, cpp-memcpy, cpp-spin, cpp-futex, cpp-shared, cpp-eventfd; limit-ring-of-threads
  --payload a,b         rows by size (64), value (req118) or label
  --quick               a useful table in about two minutes; without it about fifteen
  --rounds N            rounds per row
  --json FILE           also write the results, with all samples
  --out FOLDER          store the results there, and draw the page with their charts; \`npm run bench\` does so in bench/out
  --runtime a,b         run again under node-20, node-24, bun, deno ... (or paths); FILE gets the name added
  --sab-message-port PATH, --nxtedition-shared PATH
                        main file of the original package; without it a stand-in of its documented design takes part
  --list                scenarios, rows and the time they will take; nothing is measured
  --help

Ctrl-C shows what was measured so far and writes it, when --json is given; a second one ends at once.

millrace report: the same as a page, a picture, a comparison (millrace report --help)`;
