import { millraceSab } from '../kits/sab-message-port.ts';
import { takeOrders } from '../worker.ts';

takeOrders(millraceSab);
