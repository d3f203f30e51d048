import { checkSuite } from './suite.ts';

await checkSuite('codec', 0);
