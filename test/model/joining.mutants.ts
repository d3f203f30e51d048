// Bugs of joining that its models must catch.
import type { Mutant } from './mutants.ts';

const JOINING = 'transport/thread/joining.js';
const LINES = 'transport/thread/channel-lines.js';
const LINKS = 'transport/thread/agent-links.js';

export const joiningMutants: readonly Mutant[] = [
  {
    name: 'who has agreed goes on over the link before the other side has joined',
    file: JOINING,
    find: 'this.#say(AGREED, countersign);',
    replace: 'this.#say(AGREED, countersign); this.#join(known);',
    caughtBy: 'joining: two channels',
    as: 'stuck',
  },
  {
    name: 'who joins hears nothing more on the first line, where values are under way',
    file: JOINING,
    find: 'this.#say(JOINED);',
    replace: 'this.#say(JOINED); this.first.leave(FOUNDER);',
    caughtBy: 'joining: two channels',
    as: 'invariant',
  },
  {
    name: 'the first line is closed before its last message was heard',
    file: JOINING,
    find: 'this.#say(JOINED);',
    replace: 'this.#say(JOINED); this.first.retire();',
    caughtBy: 'joining: two channels',
    as: 'stuck',
  },
  {
    name: 'the last message of the first line is not said',
    file: JOINING,
    find: 'this.#say(LAST);',
    replace: '',
    caughtBy: 'joining: two channels',
    as: 'stuck',
  },
  {
    name: 'a channel changes its line in the middle of a post',
    file: LINES,
    find: /if \(this\.#posting > 0\)\s+this\.#afterPosts\.push\(then\);\s+else/,
    replace: '',
    caughtBy: 'joining: a getter',
    as: 'invariant',
  },
  {
    name: 'values on the link are sent to the channel that founded it',
    file: JOINING,
    find: 'return this.#link === undefined ? FOUNDER : this.#address;',
    replace: 'return FOUNDER;',
    caughtBy: 'joining: event loops',
    as: 'invariant',
  },
  {
    name: 'who waits for a link is not told that it is there',
    file: JOINING,
    find: 'tellWaiting(asked);',
    replace: '',
    caughtBy: 'joining: two channels',
    as: 'stuck',
  },
  {
    name: 'who waits for a link is not told that there will be none',
    file: LINKS,
    find: /tellWaiting\(known\);(\s+\}\s+\/\/ ---- who is who)/,
    replace: '$1',
    caughtBy: 'joining: a founder that closes',
    as: 'stuck',
  },
  {
    name: 'who declined is asked no more, and nothing is founded',
    file: JOINING,
    find: /this\.#expectNothing\(\);\s+this\.#propose\(\);/,
    replace: 'this.#expectNothing();',
    caughtBy: 'joining: a wrong name',
    as: 'stuck',
  },
  {
    name: 'a sign that nobody has said is left unanswered',
    file: JOINING,
    find: 'this.#agent?.unknown(known, countersign);',
    replace: '',
    caughtBy: 'joining: a wrong name',
    as: 'stuck',
  },
  {
    name: 'a token is kept for ever',
    file: LINKS,
    find: 'this.#expected.delete(token);',
    replace: '',
    caughtBy: 'joining: closes',
    as: 'stuck',
  },
  {
    name: 'whoever attached is believed to be who it says, without a countersign',
    file: JOINING,
    find: 'kind === AGREED && asked !== undefined && said === this.#expected',
    replace: 'kind === AGREED && asked !== undefined',
    caughtBy: 'joining: a liar',
    as: 'invariant',
  },
  {
    name: 'values for a channel are taken from whoever was asked about it',
    file: JOINING,
    find: 'known.link.enter(this)',
    replace: 'known.link.enter(this.#channel)',
    caughtBy: 'joining: a silent liar who was first',
    as: 'invariant',
  },
  {
    name: 'whoever has a handle says that the channel has joined the link with the one it claims to be',
    file: JOINING,
    find: 'const asked = this.#asked;\n        if (kind === INTRODUCE) {\n            const card',
    replace:
      'const asked = this.#asked ?? (kind === JOINED ? this.#agent.withMaker(this.#peer.id) : undefined);\n        if (kind === INTRODUCE) {\n            const card',
    caughtBy: 'joining: a liar',
    as: 'invariant',
  },
];
