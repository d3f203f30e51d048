import { millrace } from '../kits/millrace.ts';
import { takeOrders } from '../worker.ts';

takeOrders(millrace);
