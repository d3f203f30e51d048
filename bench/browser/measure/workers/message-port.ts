import { nativePort } from '../kits/native.ts';
import { takeOrders } from '../worker.ts';

takeOrders(nativePort);
