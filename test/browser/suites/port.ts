// The port suite between two workers of a page, whose event loops sleep as this browser's do.
import { portConformance } from '../../conformance/port.ts';
import { threadWorld } from '../../conformance/thread-world.ts';
import { THREADS_READY } from '../stand-ins/threads.ts';
import { offer } from './offer.ts';

portConformance(threadWorld('thread', {}));
await offer(THREADS_READY);
