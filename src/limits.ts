// Every bound: unit, value, reason. A number that limits something lives here or nowhere; but what the originals of src/compat
// promise stands with their doors, and the two measures of spinning in wait/spin.ts.

// ---- memory ---------------------------------------------------------------------------------------------------

/** Bytes. Smallest ring: a record header, a few words and room for a pad. */
export const RING_CAPACITY_MIN: number = 64;
/** Bytes. Largest ring: positions are 32 bits wide, and `tail - head` must stay below 2^32 without ambiguity. */
export const RING_CAPACITY_MAX: number = 2 ** 31;
/**
 * Bytes a direction. Two directions of 256 KiB take 512 KiB of address space but only touched pages of memory, keep
 * a burst of thousands of small messages, and fit the L2 cache of today's cores.
 */
export const CHANNEL_CAPACITY_DEFAULT: number = 256 * 1024;
/** Bytes. Below it the parts of a large message would be shorter than their headers are worth. */
export const CHANNEL_CAPACITY_MIN: number = 1024;

// ---- messages -------------------------------------------------------------------------------------------------

/** Bytes, encoded. What a channel takes for one message unless told otherwise; the receiver allocates that much. */
export const MESSAGE_BYTES_DEFAULT: number = 256 * 1024 * 1024;
/** Bytes, encoded. Above it a length no longer fits the signed 32 bits of a frame header. */
export const MESSAGE_BYTES_MAX: number = 2 ** 31 - 64;
/**
 * Bytes of memory that a thread may keep for the next large messages of all its channels, in and out: four of 3 MB, each of which
 * costs 750 page faults otherwise, which take longer than the copy.
 */
export const SCRATCH_BYTES_KEPT: number = 16 * 1024 * 1024;
/** Bytes of the smallest memory that is had for it: below, an allocation costs about the same. */
export const SCRATCH_BYTES_MIN: number = 64 * 1024;
/** Messages in a row that would have fitted an eighth of such memory, after which it is let go as it comes back. */
export const SCRATCH_SMALL_MAX: number = 64;
/** Bytes first offered to a value that is encoded aside; four times as many while it does not fit. */
export const ASIDE_BYTES_FIRST: number = 64 * 1024;
/** Bytes from which on a message keeps the memory it was encoded in; below, a copy is cheaper to keep. */
export const ASIDE_BYTES_KEPT: number = 32 * 1024;
/** Bytes of the first memory beside the ring that a slot of the newest message gets. */
export const SLOT_BYTES_FIRST: number = 64 * 1024;
/** Bytes from which on a frame that is left behind at the end is moved instead of copied. */
export const LEFT_OVER_MOVED_MIN: number = 64 * 1024;
/**
 * Bytes beside the ring that a direction makes for its larger messages when it meets the first: as many as a native port's sender
 * is best kept within, sixty messages of 64 KiB. Pages that are never touched cost nothing.
 */
export const ANNEX_BYTES: number = 4 * 1024 * 1024;
/** Bytes of the smallest message that lies there: below, a default ring holds eight, and a record more costs as much as is won. */
export const ANNEX_MESSAGE_MIN: number = 32 * 1024;
/** Bytes of the smallest ring that has an annex: who chose a smaller one has chosen little memory. */
export const ANNEX_RING_MIN: number = 128 * 1024;

// ---- outbox and inbox -----------------------------------------------------------------------------------------

/** Bytes waiting in the outbox from which on `drained()` is pending: one default ring more. */
export const HIGH_WATER_MARK_DEFAULT: number = 256 * 1024;
/** Bytes the outbox holds at the most before `postMessage` refuses (policy `wait`). */
export const OUTBOX_BYTES_DEFAULT: number = 64 * 1024 * 1024;
/** Bytes that a message in the outbox counts for beside its encoded length: measured 370 for a number on Node 24. */
export const OUTBOX_ITEM_BYTES: number = 256;
/** Bytes of complete messages set aside while this thread is blocked in `send`, so that two senders can't lock up. */
export const INBOX_BYTES_DEFAULT: number = 64 * 1024 * 1024;
/** Bytes that a message in the inbox counts for beside its encoded length: the object that small values become. */
export const INBOX_ITEM_BYTES: number = 64;

/**
 * Values on their way in the side channel, a direction. Each may be of any size and lies outside the ring, so their
 * number is what can be bounded.
 */
export const SIDE_VALUES_MAX: number = 256;
/** Bytes that a value in the side channel counts for in outbox and inbox, beside its length as a text and the buffers that move with it. */
export const SIDE_VALUE_BYTES: number = 4096;

/**
 * Bytes of buffers in a transfer list that are copied into the lane, and taken from their sender, where a thread that blocks would
 * not have them otherwise (browsers). So many take 70 ms to the other side, where a native move takes none: more of them move natively.
 */
export const MOVED_COPIED_BYTES_MAX: number = 16 * 1024 * 1024;
/** Bytes that the value around them is expected to take. What is longer is refused as any message is. */
export const MOVED_COPIED_SPARE: number = 4096;

// ---- waiting --------------------------------------------------------------------------------------------------

/** Microseconds of looking again before a thread parks; a wake-up costs 5 to 50, so waiting about as long is fair. */
export const SPIN_US_DEFAULT: number = 50;
/**
 * Looks a microsecond after which looking again ends whatever the clock says, which browsers make as coarse as 100 ms: more than a processor does, so
 * that a fine clock ends it first.
 */
export const SPIN_LOOKS_PER_US: number = 256;
/** Microseconds of looking again at the most, by option. */
export const SPIN_US_MAX: number = 10_000;
/**
 * Once the native port of a thread has broken that somebody watches, how long the one who watches it has to write down how it has
 * ended: that one's event loop is told at about the same time. After it, it counts as terminated.
 */
export const END_NEWS_MS: number = 50;

/** Milliseconds a blocked thread sleeps before it asks whether its peer's thread still lives (G4 wants 10). */
export const LIVENESS_SLICE_MS: number = 5;
/** The same for a thread that we spawned: only its terminate() and running out of memory end it unheard: looking rarely will do. */
export const LIVENESS_SLICE_SPAWNED_MS: number = 50;
/**
 * The same where a blocked thread can ask nobody, as in browsers: whoever hears of an end writes it down and rings, and what
 * is left for a look is that this one was written down and not rung for. Each costs a battery a wake-up.
 */
export const LIVENESS_SLICE_DEAF_MS: number = 1000;
/**
 * Milliseconds without a message after which such a thread sleeps where others than its peer can ring it, too: an end may be heard of so much
 * later (100 are the goal), and a message that comes behind it costs its sender some accesses more.
 */
export const QUIET_MS: number = 50;
/**
 * Milliseconds that `port.ready` waits in browsers for the link of two threads that have both opened their ends: a few turns of both event
 * loops, which were seen to take two seconds where four browsers share two processors. The channel works without a link, but a worker that
 * blocks is not told that the other one is gone.
 */
export const LINK_PATIENCE_MS: number = 5000;
/**
 * Milliseconds after which what proposes a link is said again in browsers, doubled each time up to LINK_PATIENCE_MS. In Firefox what a port
 * carries just after it has moved can be lost: one of 20 such ports, where processors are busy.
 */
export const LINK_AGAIN_MS: number = 250;
/**
 * Milliseconds that `select` sleeps before it asks for what no mark tells: whether threads were killed (G4 wants 10), and
 * what came over channels that are not linked yet, of which nobody says which it was.
 */
export const SELECT_SLICE_MS: number = 5;
/** Milliseconds after which it looks at all ports, in case a peer has scribbled over the marks (G10 wants a second). */
export const SELECT_LOOK_MS: number = 500;
/** Times that an event loop which is rung while it goes to rest tries again at once; then other work has its turn (G10). */
export const REST_TRIES_MAX: number = 4;
/** Milliseconds until then. Not the next turn: on Deno turn after turn leaves timers none. */
export const REST_AGAIN_MS: number = 1;
/** Turns for which `select` looks at a port itself that it has handed out, before it asks to be told: for a few busy ones. */
export const SELECT_WARM_TURNS: number = 4;
/** Ports that were looked at and stand in the line of `select` still; moving what is behind them costs more than keeping so few. */
export const LINE_THROUGH_MAX: number = 64;
/** Ports of a list that `select` compares with those of the call before, if one of these has something: the others' turn comes. */
export const SELECT_COMPARED_MIN: number = 64;
/** Channels without a link that are asked for the life of the other side a slice: 2 us each, so 64 take a fortieth of it. */
export const SELECT_PROBES_MAX: number = 64;
/** Times that `select` looks between two readings of the clock, one of which costs as much as several looks. */
export const SELECT_LOOKS_PER_CLOCK: number = 4;
/**
 * Moves of a channel's two ends that are under way at once, as one end sees it: each costs native ports, and whoever lies about them
 * costs no more than that. An honest pair has two, and one more for each thread that has passed an end on and stands still.
 */
export const MOVES_PENDING_MAX = 64;
/** Words that nobody can guess, asked for at once: 64 names of agents and signs, in 1 KiB. One from Node's source takes 20 us, whatever it gives. */
export const RANDOM_WORDS: number = 256;
/**
 * Milliseconds between looks at a channel whose other end is on its way to another thread: what becomes of it is told in memory, and
 * on some runtimes nobody can ring for an end that was lost together with the thread that it was sent to.
 */
export const MOVE_LOOK_MS = 500;
/**
 * Milliseconds from hearing that a thread is gone whose end of a channel has moved on, to no longer expecting to hear where to: what it
 * said last may come after the news of its end, within a turn of the event loop.
 */
export const MOVE_PATIENCE_MS = 1000;

/**
 * Milliseconds after which the event loop of a WebKit worker that sleeps by Atomics.waitAsync is first made to turn, so that a wake-up
 * which stayed behind is seen: no timer is shorter there once it is nested. Doubled each time, because a sleep that is
 * long already has been slept through seldom, and no further than this: a quarter of what a person notices.
 */
export const LATE_WAKE_MS_MIN: number = 4;
export const LATE_WAKE_MS_MAX: number = 64;

/** Milliseconds; what setTimeout and Atomics.wait both take. Anything longer is for ever. */
export const TIMEOUT_MS_MAX: number = 2 ** 31 - 1;

/**
 * Milliseconds that a blocked sender waits for a quarter of the ring before it takes whatever room there is: long against
 * the time in which a reader at work takes a quarter, short against what anybody would call a hang.
 */
export const ROOM_PATIENCE_MS: number = 1;

/** Milliseconds without progress after which `postMessage` stops keeping pace with the reader of a long message. */
export const PACE_PATIENCE_MS: number = 0.05;
/** Bytes a millisecond: about as fast as a native clone writes, so that keeping pace never takes longer than that. */
export const PACE_BYTES_PER_MS: number = 2 * 1024 * 1024;
/** Milliseconds of it at the most. */
export const PACE_MS_MAX: number = 5;

// ---- starting and ending ----------------------------------------------------------------------------------------

/**
 * Milliseconds that a blocked call waits for a worker that has not opened its end yet, and that `parentPort()` waits for its
 * start data. Starting takes 20 to 150 ms, a second or two on a machine with ten times more to do than cores: whoever takes
 * longer than this loads for so long on purpose, or will never come.
 */
export const START_TIMEOUT_MS_DEFAULT: number = 30_000;
/**
 * Milliseconds that a thread which has loaded the library listens for start data before anybody calls `parentPort()`, where
 * messages without a listener are lost. The message was posted before the thread began; 40 were seen on a busy machine.
 */
export const START_WINDOW_MS: number = 500;
/** Messages posted before the start data has come; each is a native clone of any size. */
export const EARLY_MESSAGES_MAX: number = 1024;
/** Milliseconds after which a worker's console goes on without the parent: a parent at its event loop takes less. */
export const STDIO_WAIT_MS: number = 20;
/**
 * Milliseconds that a thread which ends may wait, for all its connections together, until what it has just posted is out of its hands:
 * who reads takes a socket's fill in one; who has stopped must not hold up an exit that somebody watches.
 */
export const EXIT_WAIT_MS: number = 250;
/** Of these, milliseconds for one of several connections until the next has its turn: a socket's fill is read in one. */
export const EXIT_TURN_MS: number = 1;
/** Characters of JSON that tell what a thread died of: 16 KiB of memory a worker, of which few pages are ever touched. */
export const DEATH_TEXT_MAX: number = 8192;

// ---- fairness (G11) -------------------------------------------------------------------------------------------

/** Messages an event loop handles before timers, I/O and other ports get their turn. */
export const BUDGET_MESSAGES: number = 1024;
/** Milliseconds after which it yields even when the count is not reached. */
export const BUDGET_MS: number = 1;
/** Milliseconds that an event loop is made to turn in a way that leaves its timers no turn, as in Firefox's workers: what a nested timer waits at the least. */
export const TURNS_MS: number = 4;
/** Messages between two readings of the clock for that. */
export const BUDGET_MESSAGES_PER_LOOK: number = 32;

// ---- codec ----------------------------------------------------------------------------------------------------

/** Objects inside objects. Recursion on both sides needs stack; deeper values take the native path. */
export const VALUE_DEPTH_MAX: number = 512;
/** Keys. More of them in one object are a table, not a shape, and travel with their values. */
export const SHAPE_KEYS_MAX: number = 64;
/** Characters of a key that is worth remembering; longer ones travel with their values. */
export const SHAPE_KEY_LENGTH_MAX: number = 128;
/** Different keys that may follow the same keys; with more of them the object is a table. */
export const SHAPE_BRANCHES_MAX: number = 64;
/** Keys that V8 lets an object get by assignment before it makes a slow table of it, at least. */
export const ASSIGNED_KEYS_MAX: number = 12;
/** Keys of an object that is asked whether it is flat: with more of them the look costs as much as it saves. */
export const FLAT_KEYS_MAX: number = 64;
/** Absent elements of an array in a row that are looked at one by one; then its keys are asked for. */
export const HOLES_WALKED_MAX: number = 64;
/** Levels of nesting that have a tree of shapes of their own; deeper objects share one. */
export const SHAPE_DEPTH_MAX: number = 8;
/** Nodes of the encoder's tree, about 100 bytes each. A full tree is dropped on both sides and grown anew. */
export const SHAPE_NODES_MAX: number = 8192;
/** Shapes a decoder keeps. No encoder has more shapes than nodes. */
export const SHAPES_MAX: number = SHAPE_NODES_MAX;
/** Bytes that a key in a shape counts for beside its characters: the string, and places in lists and in hidden classes. */
export const SHAPE_KEY_BYTES: number = 32;
/**
 * Bytes that all shapes of a direction may count for on either side. A full tree of ordinary keys stays below (objects with
 * 50 keys of 8 characters reach it with the last node); 8192 shapes of 64 keys of 128 characters would be 80 MiB.
 */
export const SHAPE_BYTES_MAX: number = 8 * 1024 * 1024;
/** Objects of one value that a loop compares; beyond, `indexOf` costs less. */
export const IDENTITY_LOOP_MAX: number = 12;
/** Objects of one value that `indexOf` looks through; beyond, a Map costs less. */
export const IDENTITY_SCAN_MAX: number = 128;
/** Elements of arrays that a payload may have memory set aside for, beside four for each of its words. */
export const ELEMENTS_FREE: number = 1024;
/** Bytes that all resizable ArrayBuffers of one payload may reserve on behalf of a peer. */
export const RESIZABLE_BYTES_MAX: number = 2 ** 30;
/** Characters up to which a decoder looks for the same text among those it has just made. */
export const CACHED_TEXT_MAX: number = 16;
/** Texts a decoder keeps at hand, a power of two: with CACHED_TEXT_MAX characters each, at most 16 KiB. */
export const CACHED_TEXTS: number = 512;
/** Characters at the beginning and at the end where texts that look alike (records, documents) differ most often. */
export const TEXT_HEAD: number = 16;
export const TEXT_TAIL: number = 4;
/** Large texts that are taken for what the last one turned out to be, twice as many each time: to try in vain costs twice what is won. */
export const TAKEN_FOR_WIDE_MIN: number = 8;
export const TAKEN_FOR_WIDE_MAX: number = 64;
/** Code units handed to String.fromCharCode at once; more arguments could overflow the stack. */
export const CHAR_CODES_MAX: number = 4096;
/**
 * Bytes of a text that browsers' decoders and encoder are given at once, and that a thread keeps for them: pieces of 16 KiB took up to 1.5 times
 * as long, larger ones and memory of the text's size no less.
 */
export const TEXT_SCRATCH_BYTES: number = 64 * 1024;
/** Bytes of a text from which on a browser's decoder makes a string sooner than String.fromCharCode: 100 in Chromium and WebKit, 500 in Firefox. */
export const TEXT_DECODED_MIN: number = 256;
/** Bytes cut into strings at once. A string kept by its receiver keeps no more than this alive. */
export const TEXT_WINDOW: number = 1024;
/** Characters from which on a text may be remembered by both sides; below, asking costs a tenth of sending it. */
export const KNOWN_TEXT_MIN: number = 4096;
/** Texts that each side of a direction remembers by default: a handful of templates, or of messages for broadcast. */
export const KNOWN_TEXTS_DEFAULT: number = 16;
/** Bytes of text that each side of a direction remembers by default: five times the largest text of Bun's benchmark. */
export const KNOWN_TEXT_BYTES_DEFAULT: number = 16 * 1024 * 1024;
/** Texts a side remembers at the most, by option: the encoder looks through them one by one. */
export const KNOWN_TEXTS_MAX: number = 256;
/** Bytes of text a side remembers at the most, by option. */
export const KNOWN_TEXT_BYTES_MAX: number = 2 ** 30;
/** Fingerprints of texts met once that wait to be met again, a power of two. */
export const KNOWN_TEXT_CANDIDATES: number = 64;
/** Texts with the same fingerprint among the remembered ones. */
export const KNOWN_TEXTS_ALIKE_MAX: number = 4;

// ---- byte streams -----------------------------------------------------------------------------------------------

/** Bytes of records that a side takes on a channel before it acknowledges any: the credit that it gives at the start. */
export const STREAM_WINDOW_DEFAULT: number = 256 * 1024;
/** The same for a channel of a door that goes over a socket and says nothing of it: a message of 1 MiB lies in one record, and twice that is on its way. */
export const STREAM_WINDOW_WIDE: number = 4 * 1024 * 1024;
/**
 * Bytes of such credit that a thread gives, all its connections together: eight channels, in at most twice as much memory, where their peers send and
 * nobody reads. A listener with a thousand connections keeps no more; the others have the usual.
 */
export const STREAM_WIDE_BYTES_MAX: number = 32 * 1024 * 1024;
/** Below it the parts of a large message would be shorter than their headers are worth. */
export const STREAM_WINDOW_MIN: number = 1024;
/** Bytes of credit that a peer may give: a frame of records has a length that can be checked before any of them has come. */
export const STREAM_WINDOW_MAX: number = 16 * 1024 * 1024;
/** Bytes of records in one frame: no more than the largest credit. */
export const STREAM_FRAME_BYTES_MAX: number = STREAM_WINDOW_MAX;
/** Channels that a peer may have open on one connection: each costs some objects before anything goes over it. */
export const STREAM_CHANNELS_MAX: number = 65_536;
/** Of these, channels that nobody here has accepted yet: a name and some words each, which a peer can have us keep for nothing. */
export const STREAM_WAITING_MAX: number = 1024;
/** Bytes of a channel's name, in UTF-8: a path or two; all names that wait are a quarter of a MiB. */
export const STREAM_NAME_BYTES_MAX: number = 256;
/** Bytes of the text with which a side says why it refuses, resets or leaves: a sentence, for people. */
export const STREAM_TEXT_BYTES_MAX: number = 256;
/**
 * Bytes of JSON with which a side that crashes says what of: an error's message and some of its stack, in no more memory than a
 * greeting with all its fields needs, which each connection has.
 */
export const STREAM_DEATH_BYTES_MAX: number = 4096;
/** Bytes of all fields behind a greeting: a ticket, a certificate, and what else later versions have to say before the first channel. */
export const STREAM_FIELDS_BYTES_MAX: number = 4096;
/** Bytes of a frame that this version does not know and may pass over: room for what comes later. */
export const STREAM_UNKNOWN_BYTES_MAX: number = 256;
/** Bytes of a frame of a feature: as a greeting's fields, so that no connection needs more memory for it. */
export const STREAM_FEATURE_BYTES_MAX: number = 4096;
/**
 * Bytes of answers that a peer may have waiting, and not read, before the connection ends: who opens channels that are refused
 * costs 300 each. Answers that replace each other do not count.
 */
export const STREAM_ANSWERS_MAX: number = 1024 * 1024;
/**
 * Bytes of frames that a peer may send while this side has not decided yet what it answers its greeting, each with 64 more for what keeps it: ten
 * thousand names. Who says more before it was heard is refused, and may come again.
 */
export const STREAM_EARLY_BYTES_MAX: number = 1024 * 1024;
/** Bytes of a channel's records that wait for more of their turn, to go in one frame: with more of them a frame's own bytes cost nothing. */
export const STREAM_GATHER_BYTES: number = 8 * 1024;
/** Bytes of the first memory for what has arrived; doubled as the credit is used. */
export const STREAM_MEMORY_FIRST: number = 1024;
/** Bytes of a message in parts that are had on the word of its first part; beyond, memory is had as parts really come. */
export const STREAM_JOIN_FIRST: number = 1024 * 1024;

// ---- sockets ----------------------------------------------------------------------------------------------------

/** Bytes of a unix socket's path: `sun_path` has 108 on Linux and 104 elsewhere, the last one 0. */
export const UNIX_PATH_BYTES_MAX: number = 103;
/**
 * Bytes of the first memory for what a connection says in a turn; doubled as more is. It keeps up to SCRATCH_BYTES_MIN for its next turn, twice where much is said; larger
 * memory is the thread's (memory/scratch.ts).
 */
export const SOCKET_MEMORY_FIRST: number = 1024;
/** Where the bytes of a turn are gathered that go over a native message port: at first, grown by doubling. */
export const NATIVE_GATHER_FIRST: number = 1024;
/** Bytes from which on a message of them is moved in place of being cloned: below, that costs more than the copy. Memory of that size is not kept. */
export const NATIVE_MOVED_MIN: number = 64 * 1024;
/** How long what a thread has said waits to be read behind the news that it is gone, where no runtime says that its port has ended: a page's next turns. */
export const NATIVE_GONE_MS: number = 50;
/**
 * So long nothing has come over a native port behind the news by a lock that the thread at its other end is gone: what locks tell and what ports bring come in no
 * order. WebKit was seen to bring words behind 50 ms.
 */
export const NATIVE_QUIET_MS: number = 500;
/** Milliseconds that `port.ready` waits in browsers for both ends of a native port to say by which locks their ends are heard of: as LINK_PATIENCE_MS. */
export const NATIVE_WATCHED_MS: number = 5000;
/** How long a thread that has made a channel without memory shows in browsers by a lock which locks are its own: threads that were started for its ends have looked by then. */
export const NATIVE_SHOWN_MS: number = 5000;
/** How long a native port that was closed without a word waits for the Worker's event, which says why. It comes in the next turns; later, nobody listens to it. */
export const NATIVE_WHY_MS: number = 1000;
/**
 * Milliseconds of one request for what a blocked thread waits for; then it asks again. Browsers give a service worker's answer minutes, but no other one takes its
 * place meanwhile: half of the time that a page waits for that (SERVICE_WORKER_MS_DEFAULT).
 */
export const SYNC_READ_MS_MAX: number = 5000;
/** What a service worker gives a page at the least for its answer, however short the time limit: a look that nobody had the time to answer would find nothing, for ever. */
export const SYNC_ANSWER_MS_MIN: number = 100;
/** How often a thread that does not return to its event loop asks for what has come, where it only looks: a request takes milliseconds. */
export const NATIVE_LOOK_MS: number = 20;
/** Pieces, and bytes of them, that a thread has taken from its event loop before it says so to who keeps them. */
export const NATIVE_TELL_PIECES: number = 16;
export const NATIVE_TELL_BYTES: number = 64 * 1024;
/** Bytes of kept pieces in one answer from which on no further one goes with it. */
export const KEPT_ANSWER_BYTES: number = 1024 * 1024;
/** By which an answer of our service worker is told from a server's. */
export const ANSWER_HEADER: string = 'X-Millrace-Pieces';
/** How an address ends, but for its query, by which a service worker is asked; a handle names no other. */
export const READ_PATH: string = '.millrace/read';
/** How long an older service worker has to say what it does, where a newer one could take its place. */
export const SERVICE_WORKER_OLD_MS: number = 1000;
/** How long a page waits for a service worker to be there. It loads, and is installed and started, which takes slow machines seconds. */
export const SERVICE_WORKER_MS_DEFAULT: number = 10_000;
/** Bytes read at a time by hand, where the runtime does not: a socket's fill in some calls. */
export const SOCKET_READ_BYTES: number = 64 * 1024;
/** Bytes that wait to be written from which on a connection has enough for now: some pieces, so that the line never waits for us. */
export const SOCKET_WAITING_BYTES: number = 256 * 1024;
/** Milliseconds that the other side has to end its half of a socket behind ours: what it says until then is taken off the line. */
export const SOCKET_CLOSE_MS: number = 1000;
/** Milliseconds for which the end of a child's pipe waits for how the child has ended, which the system takes apart meanwhile: 1,000 were too few on a machine with twenty jobs. */
export const CHILD_END_MS: number = 5000;
/** Milliseconds that the other side may take nothing of what was written for it before a socket was ended: a thread that computes takes none meanwhile. */
export const SOCKET_LINGER_MS: number = 30_000;
/** Milliseconds to read what still lies in a socket to which nothing can be written any more. */
export const SOCKET_HEAR_MS: number = 100;
/** Milliseconds in which a connection is there and has greeted, unless the program says otherwise: a busy machine takes less. */
export const GREETING_MS_DEFAULT: number = 10_000;
/** Milliseconds to ask whether anybody listens at an address that is taken: on one machine the system answers at once. */
export const PROBE_MS: number = 1000;
/** Milliseconds that two listeners take turns to take a dead one's address over. */
export const TAKEOVER_MS: number = 2000;
/** Connections that a listener has at a time, unless it is told otherwise: some KiB and a descriptor each. */
export const CONNECTIONS_DEFAULT: number = 1024;
/** Of these, connections that have greeted and that the program has not taken yet. */
export const CONNECTIONS_WAITING_DEFAULT: number = 128;
/** Bytes a direction between a thread that blocks and the carrier that has its sockets: a socket's fill or two. */
export const CARRIER_RING_BYTES: number = 256 * 1024;
/** Who has connected to a listener whose thread blocks, and was not looked at yet: as the system keeps waiting for a listener that does not. */
export const CARRIER_ACCEPTED_MAX: number = 4096;
/** Bytes that the carrier keeps of a connection whose thread takes nothing, where the line cannot be told to stop: more than what channels give credit for at a time. */
export const CARRIER_KEPT_MAX: number = 64 << 20;
/** Milliseconds to wait with the thread until the carrier has begun and made a pair of sockets: 30 to 150 on a machine at rest. */
export const CARRIER_START_MS: number = 10_000;

// ---- networks ---------------------------------------------------------------------------------------------------

/**
 * Bytes that a side keeps of what the other one has not told to have heard, from which on it has enough for now: what is on its way over a line of 100 ms with
 * 300 Mbit/s. It lies well above RESUME_TELL_BYTES, or the position that makes room would never come.
 */
export const RESUME_KEPT_BYTES: number = 4 * 1024 * 1024;
/**
 * Bytes of the same from which on the other side is taken for one that never tells: what may come beyond the above, a record of the widest window and answers, and
 * as much again.
 */
export const RESUME_KEPT_MAX: number = RESUME_KEPT_BYTES + 2 * (STREAM_WINDOW_MAX + STREAM_ANSWERS_MAX);
/** Bytes heard before a side tells its position: 16 bytes in each 64 KiB, and no idle session keeps more than that. */
export const RESUME_TELL_BYTES: number = 64 * 1024;
/** Bytes of the first memory for what is kept, and of the next ones in turn, up to the largest, as more is. A session that has nothing under way keeps no more than the first. */
export const RESUME_MEMORY_FIRST: number = 1024;
export const RESUME_MEMORY_GROWTH: number = 8;
export const RESUME_MEMORY_BLOCK: number = RESUME_MEMORY_FIRST * RESUME_MEMORY_GROWTH * RESUME_MEMORY_GROWTH;
/** Milliseconds without a line after which a session is over, unless it is told otherwise: a server that is started anew, a laptop between two networks. */
export const RESUME_MS_DEFAULT: number = 60_000;
/** Milliseconds for the answer to who comes back over a new line, at the least; more where there is more time. */
export const RESUME_ANSWER_MS_MIN: number = 1000;
/** Sockets of which nobody knows yet who they are, before the one that says nothing for longest goes: handshakes that never end cost some 50 KiB each. */
export const YOUNG_SOCKETS_MAX: number = 1024;
/** Questions at a time whether somebody may go on with a session: one for a line, and some for lines that were given up, whose answers are late. */
export const SESSION_QUESTIONS_MAX: number = 4;
/** Milliseconds for the last words of a side that has ended to reach the other one. */
export const RESUME_LAST_MS: number = SOCKET_LINGER_MS;
/** The same in all, however little of them the other side takes at a time: four mebibytes at 35 kB a second. */
export const RESUME_LAST_MOST_MS: number = 4 * RESUME_LAST_MS;
/** Milliseconds of these for which they hold the process, since the other side has told of something: another line is often had at once, and nobody wants to wait at the end of a program. */
export const RESUME_LAST_HOLD_MS: number = 2000;
/** Bytes of what says who connects: the room that a greeting has for fields, but for this one's head. */
export const NET_TOKEN_BYTES_MAX: number = STREAM_FIELDS_BYTES_MAX - 8;
/** Sessions without a line that a listener keeps: the one that has waited longest goes for a further one. */
export const SESSIONS_PARKED_DEFAULT: number = 256;
/** Bytes that all of them keep together, likewise. */
export const SESSIONS_PARKED_BYTES_DEFAULT: number = 64 * 1024 * 1024;
/** Milliseconds before the second try for a new line, which double up to the next; half of each is left to chance, so that a thousand that have lost one server do not come at once. */
export const REDIAL_FIRST_MS: number = 100;
export const REDIAL_MAX_MS: number = 5000;
/** Bytes of a WebSocket's message that are taken: more than anybody says in one, by any version. */
export const WEB_SOCKET_MESSAGE_BYTES_MAX: number = 1024 * 1024;
/**
 * Bytes of a WebSocket's message, and of a line's through a server, that are said: who reads sees nothing of one before it is whole, and over a slow line that is to be
 * often enough to tell that something comes (RESUME_TELL_BYTES).
 */
export const LINE_MESSAGE_BYTES: number = 16 * 1024;
/** The same of a line's first message: a HELLO, which somebody waits for, is not to come behind the rest of a turn. */
export const LINE_FIRST_BYTES: number = 1024;
/** Bytes that wait with a WebSocket from which on a connection has enough for now: what goes out while nobody looks (WEB_SOCKET_LOOK_MS), at 250 MB/s. */
export const WEB_SOCKET_WAITING_BYTES: number = 1024 * 1024;
/** How often a WebSocket that has enough is asked whether it has room: most tell nobody. */
export const WEB_SOCKET_LOOK_MS: number = 4;
/** Milliseconds of silence after which the other side is asked for a sign (PING), and the system for one of its system's. */
export const PING_MS: number = 15_000;
/** Milliseconds of silence, though it was asked, after which who connected tries another line beside the one it has: it ends nothing. */
export const SILENCE_MS: number = 3 * PING_MS;
/**
 * Milliseconds for which nobody answers over another line, or none opens, in silence, before the one that there is counts as broken: a program that stands at a breakpoint
 * answers none; but nor does a machine that is gone behind one that takes lines in for it, and of one that is gone itself the system tells after a quarter of an hour.
 */
export const SILENCE_MOST_MS: number = 600_000;

// ---- servers between programs ---------------------------------------------------------------------------------------
/** Lines that a listener makes at a time: each is a subscription that the server has to confirm. */
export const ENGINE_ASKING_MAX: number = 1024;
/** Characters of a name, or of a pattern: what a server's subjects may have is more, with our own parts before it. */
export const ENGINE_NAME_BYTES_MAX: number = 200;
/** Bytes of one message through a server: what it takes is more (NATS 1 MiB, Redis 512), and what is large goes on the way in pieces that others need not wait for long. */
export const ENGINE_MESSAGE_BYTES_MAX: number = 256 * 1024;
/** Bytes said through a server before it is asked whether it has them: that costs a trip. */
export const ENGINE_FLUSH_BYTES: number = 128 * 1024;
/** Milliseconds in which nothing was heard of the other end of a line, after which the server is asked whether anybody is there: a process that is gone is noticed by nothing else. A line at rest costs one such question a second. */
export const ENGINE_PROBE_MS: number = 2000;

/** Bytes that all topics of one engine have on their way to a server that takes nothing, before further messages count as unsent: the largest value, and as much behind it. */
export const ENGINE_UNFLUSHED_MAX: number = 32 * 1024 * 1024;
/** The least that a server has to take as one message: heads and the first words of a line lie in it with room to spare. */
export const ENGINE_MESSAGE_BYTES_MIN: number = 4096;
/** Milliseconds for what is opened on a server: to listen, to subscribe, to serve, a queue, a connection. */
export const ENGINE_OPEN_MS: number = 10_000;
/** Milliseconds that closing waits for answers and jobs that are under way, unless it is told otherwise. */
export const ENGINE_DRAIN_MS: number = 10_000;
/** Milliseconds that closing waits for the server: for last words to be there, and for what it had given to this side. */
export const ENGINE_LAST_MS: number = 2000;

/** Messages that one published value, or one answer, may take: so 16 MiB; what is larger goes over a port, which has back-pressure. */
export const ENGINE_PARTS_MAX: number = 64;
/** Bytes that a message, or a part of a value, counts beside its own where it is kept: what an engine needs for it. */
export const ENGINE_THING_BYTES: number = 512;
/** Bytes of such parts that a reader keeps, of all who publish together. */
export const ENGINE_PARTS_BYTES_MAX: number = 64 * 1024 * 1024;
/** Publishers of a topic whose numbers a reader knows: the one that was silent for longest is forgotten for a further one, and what is missed of it then is not noticed. Each topic that a program publishes to counts; 200 bytes for one. */
export const ENGINE_SENDERS_MAX: number = 65_536;
/** Memories of SCRATCH_BYTES_MIN that a thread keeps for what it says through servers: so many topics that are published to in one turn take none anew. */
export const RECORD_SPARES_MAX: number = 16;
/** Topics that an engine publishes to and knows again by their names; the one that was not asked for in longest begins its numbers anew. */
export const ENGINE_TOPICS_MAX: number = 4096;
/** Bytes of messages that wait with the reader of a topic before the oldest one goes, however few they are: whoever may publish could fill its memory otherwise. */
export const ENGINE_WAITING_BYTES: number = 64 * 1024 * 1024;
/** Messages that wait with the reader of a topic before the oldest one goes. */
export const ENGINE_WAITING_DEFAULT: number = 1024;
/** Requests of one side that wait for an answer; and those that wait with one who answers, beyond which it says that it is busy. */
export const ENGINE_REQUESTS_MAX: number = 65_536;
export const ENGINE_SERVING_DEFAULT: number = 1024;
/** Milliseconds for an answer, unless it is told otherwise. */
export const ENGINE_REQUEST_MS: number = 10_000;

/** Milliseconds without a sign of a worker after which others have its jobs. A worker gives three signs in that time. */
export const QUEUE_ACK_MS: number = 30_000;
/** Times that a job is tried, and milliseconds before the second try; they double up to the last. */
export const QUEUE_ATTEMPTS: number = 5;
export const QUEUE_RETRY_MS: number = 1000;
export const QUEUE_RETRY_MS_MAX: number = 300_000;
/** Jobs of one worker at a time: each has a timer, and is asked for by one command together with others. */
export const QUEUE_CONCURRENCY_MAX: number = 1024;
/** Milliseconds that a worker waits on its server for jobs before it asks again: what it does besides, such as to look for jobs whose worker has died, it does as often. */
export const QUEUE_WAIT_MS: number = 500;
/** Milliseconds that a worker which is closed waits for what it has asked its server for: jobs that come by then are done. */
export const QUEUE_CLOSE_MS: number = 3000;
/** Milliseconds before a worker whose server is lost, or has refused, asks again. */
export const QUEUE_AGAIN_MS: number = 100;
/** Milliseconds for which the id of a job is remembered: two minutes, as JetStream has it. */
export const QUEUE_ID_MS: number = 120_000;
/** Dead letters that are read at a time. */
export const QUEUE_DEAD_MAX: number = 10_000;
/** Characters of what the last try of a job has said. */
export const QUEUE_WHY_MAX: number = 1000;

/** Names of which it is known in Redis who answers to them. */
export const REDIS_CHANNELS_MAX: number = 1024;
/** Milliseconds for which it is believed who answers to a name in Redis: to ask is a command that looks at all channels. One that has gone before is noticed by the first message that nobody hears. */
export const REDIS_CHANNELS_MS: number = 1000;

/** Milliseconds beyond its time for who waits for jobs, before another connection is tried. */
export const REDIS_LATE_MS: number = 10_000;
/** Milliseconds after a slot has had another node in which whoever listens is believed to be on the way there. */
export const REDIS_CLUSTER_BACK_MS: number = 1000;
/** Milliseconds for a node of a cluster to answer, before another one is asked. */
export const REDIS_CLUSTER_NODE_MS: number = 2000;
/** Milliseconds before it is asked again how a cluster is that is changing; they double up to the last: a node that was lost is given up by the others after some seconds. */
export const REDIS_CLUSTER_AGAIN_MS: number = 50;
export const REDIS_CLUSTER_AGAIN_MS_MAX: number = 500;
/** Milliseconds after which it is asked in any case: what a client was not told, or has not understood, is noticed so. */
export const REDIS_CLUSTER_CHECK_MS: number = 5000;

// ---- hubs -----------------------------------------------------------------------------------------------------------
/** Bytes that all queues of a hub keep: it has them in memory, and a program that puts jobs for which nobody works is to be told before its memory is full. */
export const HUB_QUEUE_BYTES_DEFAULT: number = 256 * 1024 * 1024;
/** Bytes that a job or an id counts beside its own: what an engine needs for them. */
export const HUB_THING_BYTES: number = 256;
/** Bytes that wait for a member, or for its hub, that takes nothing in, before more is dropped: as ENGINE_UNFLUSHED_MAX. */
export const HUB_WAITING_BYTES: number = ENGINE_UNFLUSHED_MAX;
/** Answers that wait for a member whose port has no room for them, before it is ended: it asks, and takes nothing in. Half of them may be such as others gave. */
export const HUB_UNSAID_MAX: number = 1024;
/** As HUB_WAITING_BYTES, of answers, which somebody waits for: what is left of a port's outbox is for what would end a member if it could not be said. */
export const HUB_ANSWER_BYTES: number = (3 * OUTBOX_BYTES_DEFAULT) / 4;
/** Characters of a subject: two names of ours with what stands before them. */
export const HUB_SUBJECT_MAX: number = 512;
/** Bytes that a queue counts beside what is in it: it has nine maps and sets. */
export const HUB_QUEUE_BYTES: number = 4096;
/** Subscriptions that a member whose port was lost says at a time over the next one: less than the smallest outbox holds. */
export const HUB_AGAIN_AT_ONCE: number = 1024;
/** Milliseconds without a line after which a member is passed over, and what it has of queues is another one's: lines that are found again are found sooner, mostly. */
export const HUB_AWAY_MS: number = 2000;
/** Subscriptions of a member, of which one to a pattern counts as many as it has parts: two for each port that it has through a hub, a hundred thousand of which take 1 GB elsewhere. */
export const HUB_SEATS_MAX: number = 262_144;
/** Bytes of jobs, or of dead letters, in one answer, or those of one that has more: any port takes what takes one message. */
export const HUB_REPLY_BYTES: number = ENGINE_MESSAGE_BYTES_MAX / 2;
/** How often a member waits for jobs at once: each worker of it does so once. */
export const HUB_TAKES_MAX: number = 4096;
/** Milliseconds for which it does so: it asks again. */
export const HUB_TAKE_MS_MAX: number = 10_000;
/** Milliseconds between two tries to reach a hub again, at the most: it is near. */
export const HUB_REDIAL_MAX_MS: number = 1000;

// ---- memory of processes ----------------------------------------------------------------------------------------

/** Milliseconds of a sleep in the kernel, which `worker.terminate()` does not end, and after which a blocked thread asks for its peer's life. */
export const FUTEX_SLICE_MS: number = 20;
/** Milliseconds after which descriptors that found no room are tried again: the other side takes some whenever its event loop runs. */
export const DESCRIPTOR_LINE_AGAIN_MS: number = 2;
/**
 * Milliseconds for which what has come on it may find no descriptor, though the line keeps one in reserve: longer, and the connection is over. It takes
 * a program that opens whatever descriptor is let go of.
 */
export const DESCRIPTOR_LINE_SHORT_MS: number = 5000;
/** Messages on the line of descriptors that are taken before the event loop has a turn: the system lets some hundreds wait. */
export const DESCRIPTOR_LINE_TAKEN_MAX: number = 4096;
/** Messages that wait for room on it, a descriptor each, from which on no channel is given memory: it goes over the connection. */
export const DESCRIPTOR_LINE_BUSY: number = 1024;
/** From which on the connection is over: more than one for each end of a channel that there may be. */
export const DESCRIPTOR_LINE_UNSENT_MAX: number = 4 * STREAM_CHANNELS_MAX;
/** Messages that a side takes in as left over, over all channels of a connection; each takes some 200 bytes while it waits to be read. */
export const MEMORY_LEFT_FRAMES_MAX: number = 4 * 1024 * 1024;
/**
 * Channels of a connection that have memory; one more goes over the connection. Each takes a mapping, and two more where both sides send large messages, of which
 * Linux lets a process have 65,530 (vm.max_map_count).
 */
export const MEMORY_CHANNELS_MAX: number = 16_384;
/** Connections to a process's side socket that are looked at in search of the one that is expected. */
export const DESCRIPTOR_LINE_TRIES_MAX: number = 16;
/** Bytes with which who connects there shows that it is who was told. */
export const MEMORY_TICKET_BYTES: number = 16;

// ---- topics -----------------------------------------------------------------------------------------------------

/** Bytes of a topic's ring by default: thousands of small messages that a reader may be behind, in a core's cache. */
export const TOPIC_CAPACITY_DEFAULT: number = 1024 * 1024;
/** Below it a quarter would hold no message that is worth one. */
export const TOPIC_CAPACITY_MIN: number = 1024;
/** Half of what 32 bits of position can tell apart, and half again: a reader's distance stays a positive number. */
export const TOPIC_CAPACITY_MAX: number = 2 ** 30;
/**
 * A message takes a quarter of the ring at the most: the newest record, a pad and the room of the next one fit it together, so that the newest
 * is never written over before it is replaced.
 */
export const TOPIC_MESSAGE_SHARE: number = 4;
/** The writer says beforehand that it will write over a 16th of the ring: once for many messages, and no more history is given up for it. */
export const TOPIC_STEP_SHARE: number = 16;
/** Bytes first offered to a message of a topic; twice those of the last one from then on. */
export const TOPIC_OFFER_MIN: number = 128;
/** Readers that a writer may have to wait for: it looks at the position of each of them, once for many messages. */
export const TOPIC_RELIABLE_MAX: number = 64;
/** Milliseconds that a writer waits for one reader before it goes on without it: a busy thread has had its turn by then. */
export const TOPIC_PATIENCE_MS: number = 10_000;
/** Handles of a topic that are out at a time: each is a native port in the writer's thread, of about a kilobyte. */
export const TOPIC_HANDLES_MAX: number = 1024;
/** Times that a reader which is overtaken while it copies tries again, before it gives other work its turn. */
export const TOPIC_TRIES_MAX: number = 16;
/** Times that a reader looks for a newest message that stands. One always does (P3): an honest writer is past a reader that often never. */
export const TOPIC_BEGINNINGS_MAX: number = 1000;
/** Milliseconds a blocked reader sleeps before it asks whether the writer's thread lives: sixteen readers ask 800 times a second. */
export const TOPIC_SLICE_MS: number = 20;
/** Bytes up to which a message is copied word by word, below what a call to copy costs. */
export const TOPIC_LOOP_BYTES: number = 128;

// ---- calls ------------------------------------------------------------------------------------------------------

/** Calls of a side that are not answered yet: each takes some 200 bytes here and as many there, with its arguments until they are sent. */
export const CALLS_PENDING_DEFAULT: number = 16_384;
/** The most that can be said for it: a Map holds so many entries. */
export const CALLS_PENDING_MAX: number = 2 ** 24;
/** Functions and references of a side that the other one may call: each is kept for it until it lets go. */
export const CALLS_EXPORTS_MAX: number = 65_536;
/** Streams of a side that are not over: each may have a window of values waiting. */
export const CALLS_STREAMS_MAX: number = 1024;
/** Values that a stream may be ahead of its reader, unless the reader says otherwise: enough that it does not wait for each. */
export const CALLS_WINDOW_DEFAULT: number = 64;
/** A window, at the most: what a slow reader has to have room for. */
export const CALLS_WINDOW_MAX: number = 65_536;
/** Messages that go together: what is decoded before the first of them is heard. */
export const CALLS_BATCH_MAX: number = 256;
/**
 * Messages of one turn that go before it is over: each part costs a wake-up at the most, and while the other side is at work on one this side makes the next.
 * With 100 calls in flight 16 gave 2.2 to 2.6 times the calls of 100 together, and 8 and 32 about the same.
 */
export const CALLS_PART: number = 16;
/** Microtasks in a row for which a stream goes on gathering values before they are sent: other work has its turn behind them. */
export const CALLS_GATHER_HOPS: number = 16;
/** Names in a path (`api.db.users.find` has three), and levels of a value in which functions and streams are looked for. */
export const CALLS_DEPTH_MAX: number = 64;
/** Calls served within each other by a thread that is blocked in a call: some stack frames each. */
export const CALLS_NESTED_MAX: number = 64;
/** Names of a proxy that are remembered; who makes names of data pays for each anew. */
export const CALLS_NAMES_KEPT: number = 1024;
/** Calls that wait for this thread to have returned from the blocking call it is in. */
export const CALLS_DEFERRED_MAX: number = 16_384;
/** Threads that may be blocked until one call is answered: each is a number that travels with whatever is called meanwhile. */
export const CALLS_CHAIN_MAX: number = 1024;
/** Milliseconds after which an aborted call's number gives way to another one's in the interrupt word, and a blocked thread looks at its other connections. */
export const CALLS_TURN_MS: number = 2;
/** The longest time, in milliseconds, between two such looks: a cycle of blocked threads that it is to find is seldom. */
export const CALLS_LOOK_MS_MAX: number = 32;
/** Messages that are lost until the other side has said which calls it knows: more, and it is taken for one that hears nothing. */
export const CALLS_CHECKS_MAX: number = 64;
/** Levels of causes of an error that go along: who looks for the reason finds it within some. */
export const CALLS_CAUSES_MAX: number = 8;
/** Errors that go along with one, as causes and as parts of an AggregateError, together: a message can name the same one any number of times. */
export const CALLS_ERRORS_MAX: number = 64;
/** Characters of a stack that go along: some hundred frames. Who has raised `Error.stackTraceLimit` has megabytes. */
export const CALLS_STACK_MAX: number = 32_768;
/** Values of one call: as many as engines put on a small stack to call a function with them. */
export const CALLS_VALUES_MAX: number = 4096;
/** Numbers of calls in one question for them: more are asked for in several. */
export const CALLS_CHECKED_MAX: number = 4096;
/** Aborted calls whose numbers take turns in the interrupt word: the newest ones. The others learn of it by message. */
export const CALLS_INTERRUPTS_MAX: number = 64;
/** Messages that are taken from another connection at a time while this thread is blocked: what it is blocked in has its turn behind them. */
export const CALLS_LOOK_MAX: number = 64;

// ---- pools ------------------------------------------------------------------------------------------------------

/** Members of a pool: each is a thread or a process, of some MB. */
export const POOL_SIZE_MAX: number = 1024;
/** Tasks that wait in a pool for a member, unless the option says otherwise: each takes some 300 bytes, with its arguments. */
export const POOL_QUEUE_DEFAULT: number = 16_384;
/** Tasks that were given up while they waited, and stand in the line until it is put in order: so many more than wait. */
export const POOL_DEAD_MAX: number = 1024;
/** Tasks of a member that run at once, at the most. */
export const POOL_CONCURRENCY_MAX: number = 16_384;
/** Tasks that are sent to a member before it has room for them: as many as go together, and beyond that nothing is gained. */
export const POOL_AHEAD_MAX: number = 256;
/** Milliseconds between two looks at how many tasks each member has done, which is how many it is sent ahead. */
export const POOL_LOOK_MS: number = 1;
/** Looks in a row at a member that has done nothing, until it gives back what it was sent ahead: one alone may fall into a pause of this thread. */
export const POOL_SILENT_LOOKS: number = 2;
/** Milliseconds that a call takes at the least for which the answers of those before it are sent at once, and do not wait for it. */
export const CALLS_QUICK_MS: number = 0.5;
/** Calls of a name in a row that take less, until it is believed that the next one does. */
export const CALLS_SLOW_RUNS: number = 64;
/** Words in which a pool and a member agree on who has a task that was sent ahead: more than are on their way, so that two seldom share one. */
export const CLAIMS_LENGTH: number = 1024;
/** Milliseconds after which a member that nobody needs ends, unless the option says otherwise: more than its start takes by far. */
export const POOL_IDLE_MS_DEFAULT: number = 60_000;
/** Milliseconds from a task's abort until its thread is terminated if it runs on: what a function that looks at its signal needs, and more. */
export const POOL_GRACE_MS_DEFAULT: number = 1000;
/** Milliseconds that a process of a pool may take to end once it was told so (SIGTERM), until it is killed: to write down what it has takes less. */
export const POOL_KILL_MS: number = 2000;
/** Members in a row that end before they have done anything, until the pool gives up. */
export const POOL_RESTART_TRIES_DEFAULT: number = 5;
/** Milliseconds before the second of them is started; twice as many each time. */
export const POOL_RESTART_MS_DEFAULT: number = 50;
/** The same, at the most. */
export const POOL_RESTART_MS_MAX: number = 10_000;

/** A timer's longest time, in milliseconds: what is longer would fire at once. */
export const TIMER_MS_MAX: number = 2 ** 31 - 1;
/** Until somebody listens at an endpoint it is asked again after so long, then after twice as long, and so on. */
export const COMLINK_HELLO_MS: number = 10;
export const COMLINK_HELLO_MS_MAX: number = 1000;
/** A channel tells that the other thread has ended, its worker of what: so long it may take to do so. */
export const COMLINK_DEATH_MS: number = 250;
