import { MessagePort } from 'node:worker_threads';

export function isNativePort(value: unknown): value is MessagePort {
  return value instanceof MessagePort;
}
