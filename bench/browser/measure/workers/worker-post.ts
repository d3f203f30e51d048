import { workerPost } from '../kits/native.ts';
import { takeOrders } from '../worker.ts';

takeOrders(workerPost);
