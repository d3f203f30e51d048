import { comlink } from '../kits/comlink.ts';
import { takeOrders } from '../worker.ts';

takeOrders(comlink);
