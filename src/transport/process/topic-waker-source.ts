// As carrier-source.ts: what runs in the thread that wakes the readers of a topic.
export const TOPIC_WAKER: URL | string = new URL('./topic-waker-thread.js', import.meta.url);
