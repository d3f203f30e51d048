// Messages that wait for a reader who may never come: when it is garbage, what has moved with them is let go.

/** Messages that wait for a reader. May not lead to the reader. */
export interface Unread {
  /** Nobody will ask for them any more. */
  letGo(): void;
}

const unreadOf = new FinalizationRegistry<Unread>((unread) => unread.letGo());

/** Lets go of what is unread when its reader is garbage. */
export function watchUnread(reader: object, unread: Unread): void {
  unreadOf.register(reader, unread);
}
