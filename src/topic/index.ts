// The door to topics: names only.
export { CLOSED, EMPTY, type EndReason } from '../outcome.ts';
export type { ProcessTopicHandle, SharableTopic, TopicMemorySource } from '../transport/topic-medium.ts';
export type { SubscribeOptions, TopicOptions } from './options.ts';
export { subscribe, TopicReader, type TopicReceiveAsyncOptions, type TopicReceiveOptions } from './reader.ts';
export type { TopicHandle } from './thread.ts';
export { createTopic, Topic, type TopicStats } from './topic.ts';
