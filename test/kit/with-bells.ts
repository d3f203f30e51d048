// To be imported first: what is imported after it runs with threads whose event loops are woken by bells, this one and those of thread.ts.
import process from 'node:process';
import './by-bell.ts';
import { inOneFile } from './in-one-file.ts';

process.env['MILLRACE_TEST_FIRST'] = inOneFile(new URL('./by-bell.js', import.meta.url)).href;
