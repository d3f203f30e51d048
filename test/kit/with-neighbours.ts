// To be imported first: what is imported after it runs beside neighbours (neighbours.ts), a sample of it where it is long.
import process from 'node:process';

process.env['MILLRACE_TEST_NEIGHBOURS'] ??= '100';
process.env['COUNT'] ??= '8';
