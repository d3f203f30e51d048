// Makes this process take the ways of macOS wherever our modules ask for the system's name, with the addon of the system that it runs on: places for lines are
// files, bells are bytes on sockets. To be imported before what asks.
import { syncBuiltinESMExports } from 'node:module';
import process from 'node:process';
import { addonFile } from './native.ts';

process.env['MILLRACE_NATIVE'] = addonFile();
Object.defineProperty(process, 'platform', { value: 'darwin' });
syncBuiltinESMExports();
