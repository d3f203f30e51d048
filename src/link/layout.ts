// What stands where in the memory that agents share, beside that of their channels. An agent is a thread, whatever else
// it may be later.
//
// The AGENT PAGE is one for each agent, known to every agent that it has a link with: whoever blocks on several channels
// sleeps on its word (BLOCKED), or announces there that it waits for its bell (DOORBELL), which is not in the page but in what
// it tells of itself (own-agent.ts): nobody is to be made to ring what a third agent has written down.
//
//   word  byte   name            written by  line  meaning
//   0     0      SLEEP           everybody   0     0 awake, else how this agent sleeps (wait/signal.ts)
//   1     4      SLEEPS          its agent   0     times it went to sleep
//   2     8      HELD            its agent   0     the lock that tells of its end, by number; 0 none, -1 it can hold none (transport/thread/agent-watch.ts)
//   3     12     DEATHS          everybody   0     times that it was told that an agent is gone, and how stands on that one's page
//
// The LINK PAGE is one for each pair of agents: a side block for each. What one agent writes here reaches nobody but the
// other one of the pair.
//
//   word  byte   name            written by  line  meaning
//   0     0      SIDE_0          -           0     side block of the agent that made the page
//   288   1152   SIDE_1          -           18    side block of the other one
//
// Side block: how the other agent wakes this one. Words are counted from the start of the block.
//
//   word  byte   name            written by  line  meaning
//   0     0      REST            both        0     0 awake, else how this agent rests as far as this link goes
//   1     4      RESTS           this agent  0     times it went to rest there
//   2     8      SAID            this agent  0     messages it has sent beside the page, for whoever asks for them; none between threads
//   16    64     READY           both        1     ready set: which channels the other agent has something to say about
import { READY_SUMMARY_WORDS, readyWords } from './ready-set.ts';

export const SLEEP = 0;
export const SLEEPS = 1;
export const HELD = 2;
export const DEATHS = 3;
/** Bytes of an agent page: a line of its own. */
export const AGENT_PAGE_BYTES = 64;

export const REST = 0;
export const RESTS = 1;
export const SAID = 2;
export const READY = 16;
/** Words of a side block: whole pairs of lines, which processors fetch together. */
const SIDE_WORDS: number = (READY + readyWords(READY_SUMMARY_WORDS) + 31) & -32;
export const SIDE_0 = 0;
export const SIDE_1: number = SIDE_WORDS;
/** Bytes of a link page. */
export const LINK_PAGE_BYTES: number = SIDE_WORDS * 2 * 4;
