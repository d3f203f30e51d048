// What there is one of in a thread (an agent, in the words of the language), however many copies of this library are loaded
// in it: two doors that were bundled apart, a dependency's own version. Kept on the global object, the only place that all of
// them know. Everything else belongs to a channel and is nobody else's business.
//
//   name                     what it is                                            who
//   ends/1                   the list of open ends, and its exit hook              transport/thread-end.ts
//   connections/1            the connections over byte streams that end with it    transport/stream/exits.ts
//   agent/1                  its page, and its links of every kind                 link/own-agent.ts
//   bells/1                  the bells of its links to processes, for one sleep     transport/process/bells.ts
//   links/7                  its links with threads, its name, what keeps it running transport/thread/agent-links.ts
//   loop-bells/1             the bell of its event loop, and the links that ring it link/loop-bells.ts
//   inbox/1                  where start data arrives                              port/parent-port.ts
//   start/<layout version>   the start data, and the port of `parentPort`          port/start-data.ts, port/parent-port.ts
//   lock-space/1             which threads have the same locks                      transport/native/lock-space.ts
//   native-lock/2            its lock, where locks tell of its end                  transport/native/thread-lock.ts
//   kept-pieces/1            what keeps what is sent for readers that block           transport/native/kept-pieces.ts
//   turn/1                   what is put off to the end of the turn                compat/end-of-turn.ts
//   calls/1                  the connections of calls, and who is blocked in one   rpc/blocking.ts
//   backlogs/1               the ends whose queues must be moved along             compat/sab-message-port/backlogs.ts
//
// Copies of different versions meet here. So the part of a name after the slash changes whenever its object, or what is put
// into it, changes for others: the copies then have one each, as if the other were not there. What holds memory that is laid
// out in some way says so by the layout's version.

/** The object of that name in this thread; the first copy that asks makes it. */
export function ofAgent<T extends object>(name: string, make: () => T): T {
  const key = Symbol.for(`millrace.agent.${name}`);
  const found = (globalThis as Record<symbol, unknown>)[key];
  if (found !== undefined) return found as T;
  const value = make();
  Object.defineProperty(globalThis, key, { value });
  return value;
}
