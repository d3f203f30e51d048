// The script of every page: runs the checks of the module that the page's address names.
import { reportFailure, runChecks } from './checks.ts';

const name = location.pathname.slice('/page/'.length);
try {
  await import(`./${name}.js`);
  await runChecks(name);
} catch (error) {
  await reportFailure(name, error);
}
