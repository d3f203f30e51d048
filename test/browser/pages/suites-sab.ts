import { checkSuite } from './suite.ts';

await checkSuite('sab', 4, 'sab-thread');
