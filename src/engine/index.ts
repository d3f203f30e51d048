// What the doors to servers between programs have in common: names only.
export { CLOSED, EMPTY } from '../outcome.ts';
export type { Listener } from '../port/link-listener.ts';
export { Port } from '../port/port.ts';
export type { LinkedPort } from '../port/port-link.ts';
export type { Engine, EngineConnectOptions, EngineListenOptions, EngineOptions } from './engine.ts';
export type {
  DeadLetter,
  EngineQueue,
  Job,
  PutOptions,
  QueueOptions,
  QueueStats,
  Worker,
  WorkOptions,
} from './queue.ts';
export type { EngineReader, EngineReaderStats, EngineReceiveOptions, EngineSubscribeOptions } from './reader.ts';
export type { Asked, DrainOptions, RequestOptions, Served, ServeOptions } from './requests.ts';
export type { EngineTopic, EngineTopicOptions, EngineTopicStats } from './topic.ts';
