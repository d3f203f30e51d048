// A web worker that exposes what test/compat/comlink-api.ts has, at its own global object.
import { expose } from '../../src/compat/comlink.ts';
import { Api, setHandlers } from './comlink-api.ts';

setHandlers();
expose(new Api());
