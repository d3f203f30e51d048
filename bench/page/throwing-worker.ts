// A worker that fails to start. It awaits nothing at its top: WebKit tells nobody when a module that does so throws.
import '../../src/index.ts';

throw new Error('on purpose: this worker fails to start');
