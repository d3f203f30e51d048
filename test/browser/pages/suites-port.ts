import { checkSuite } from './suite.ts';

await checkSuite('port', 4);
