// The suite of sab-message-port's README between workers of a page, over the door as it is shipped.
import '../../compat/sab-message-port-readme.test.ts';
import '../../compat/sab-message-port-channel.test.ts';
import '../../compat/sab-message-port-queue.test.ts';
import { THREADS_READY } from '../stand-ins/threads.ts';
import { offer } from './offer.ts';

await offer(THREADS_READY);
