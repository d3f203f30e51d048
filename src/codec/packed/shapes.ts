// What a direction of a channel has learned about the keys of objects. The encoder walks a tree from key to key; the
// node it ends on stands for the list of keys, the shape, and carries the number under which the decoder knows it.
import {
  SHAPE_BRANCHES_MAX,
  SHAPE_BYTES_MAX,
  SHAPE_DEPTH_MAX,
  SHAPE_KEY_BYTES,
  SHAPE_KEY_LENGTH_MAX,
  SHAPE_KEYS_MAX,
  SHAPE_NODES_MAX,
  SHAPES_MAX,
} from '../../limits.ts';
import { SHAPE_LOCAL } from './format.ts';

/** A list of keys, seen so far or whole. The followed-last child is kept at hand: most objects repeat. */
export class ShapeNode {
  /** The key that was followed last from here and where it led. */
  key: string | null = null;
  next: ShapeNode | null = null;
  /** All other ways from here. */
  others: Map<string, ShapeNode> | null = null;
  readonly keys: readonly string[];
  /** Number known to the decoder, or about to be; -1 while it has none. */
  shape: number = -1;
  /** Where objects found as the value of the last key begin: keeps apart what has different keys. */
  inner: ShapeNode | null = null;
  /** The first node that was met with these keys, which has their number; `null` before there is one. */
  first: ShapeNode | null = null;
  /** How deep in such beginnings this node lies. */
  readonly depth: number;
  /** What the keys count for. */
  readonly bytes: number;

  constructor(keys: readonly string[], depth: number, bytes: number) {
    this.keys = keys;
    this.depth = depth;
    this.bytes = bytes;
    if (keys.length === 0) this.shape = 0;
  }
}

const NO_KEYS: readonly string[] = [];

export class ShapeTree {
  readonly root: ShapeNode = new ShapeNode(NO_KEYS, 0, 0);
  /** Shapes of the current payload that the decoder does not know yet. */
  readonly pending: ShapeNode[] = [];
  /** The number of the next shape. Number 0 is the object without keys, known from the start. */
  known: number;
  /** Whether the decoder has forgotten the shapes of the tree before this one. */
  begun: boolean;
  #nodes = 1;
  #bytes = 0;
  /** The same keys may be met in several places; they are one shape. */
  readonly #byKeys: Map<string, ShapeNode> = new Map();

  constructor(first: number = 1, begun: boolean = true) {
    this.known = first;
    this.begun = begun;
  }

  /**
   * A new tree in the place of this one. Its shapes have numbers that none had before, so that a decoder which misses what
   * either tree taught takes no shape for another (S1 in taught-shapes.ts). When the numbers run out, after a
   * hundred million shapes, they begin anew: nobody can have missed as much and know the first ones still.
   */
  successor(): ShapeTree {
    return ShapeTree.from(this.known);
  }

  /** The tree after one whose next number was `known`. */
  static from(known: number): ShapeTree {
    return new ShapeTree(known + SHAPES_MAX > SHAPE_LOCAL ? 1 : known, false);
  }

  /** Too much was met to remember more of it; what repeats now may not be what repeated then. */
  get full(): boolean {
    return this.#nodes >= SHAPE_NODES_MAX || this.#bytes >= SHAPE_BYTES_MAX;
  }

  /** The node after `key`, or `null` when this object is better written as pairs from here on. */
  step(from: ShapeNode, key: string): ShapeNode | null {
    if (from.next !== null) {
      from.others ??= new Map([[from.key as string, from.next]]);
      const known = from.others.get(key);
      if (known !== undefined) {
        from.key = key;
        from.next = known;
        return known;
      }
      if (from.others.size >= SHAPE_BRANCHES_MAX) return null;
    }
    if (this.full || from.keys.length >= SHAPE_KEYS_MAX || key.length > SHAPE_KEY_LENGTH_MAX) {
      return null;
    }
    // Keys that are numbers belong to tables, which have new keys every time.
    const first = key.charCodeAt(0);
    if (first >= 48 && first <= 57) return null;
    const bytes = from.bytes + SHAPE_KEY_BYTES + key.length;
    this.#bytes += bytes;
    if (this.#bytes > SHAPE_BYTES_MAX) return null;
    this.#nodes++;
    const node = new ShapeNode([...from.keys, key], from.depth, bytes);
    from.others?.set(key, node);
    from.key = key;
    from.next = node;
    return node;
  }

  /** Where objects inside the value of the last key of `node` begin. */
  inner(node: ShapeNode): ShapeNode {
    if (node.depth >= SHAPE_DEPTH_MAX || this.full) {
      node.inner = this.root;
    } else {
      this.#nodes++;
      node.inner = new ShapeNode(NO_KEYS, node.depth + 1, 0);
    }
    return node.inner;
  }

  /** Gives `node` a number; the payload must bring its definition when the node is new among `pending`. */
  define(node: ShapeNode, teach: boolean): number {
    node.first ??= this.#firstOf(node);
    const { first } = node;
    if (first.shape < 0) {
      first.shape = (teach ? this.known : SHAPE_LOCAL) + this.pending.length;
      this.pending.push(first);
    }
    if (first !== node) {
      node.shape = first.shape;
      // Another place with the keys of a pending shape: remembered as a follower so that a rollback finds it.
      if (node.shape >= this.known) this.#followers.push(node);
    }
    return node.shape;
  }
  #firstOf(node: ShapeNode): ShapeNode {
    const name = nameOf(node.keys);
    const first = this.#byKeys.get(name);
    if (first === undefined) this.#byKeys.set(name, node);
    return first ?? node;
  }
  readonly #followers: ShapeNode[] = [];

  /** The decoder will know the pending shapes. */
  commit(): void {
    this.begun = true;
    if (this.pending.length === 0) return;
    this.known += this.pending.length;
    this.pending.length = 0;
    this.#followers.length = 0;
  }

  /** The decoder will not know them, or not for longer than this payload. */
  rollback(): void {
    for (const node of this.pending) node.shape = -1;
    for (const node of this.#followers) node.shape = -1;
    this.pending.length = 0;
    this.#followers.length = 0;
  }
}

/** What a shape counts for, on either side. The tree counts every node, so its shapes can't exceed what a decoder takes. */
export function shapeBytes(keys: readonly string[]): number {
  let bytes = keys.length * SHAPE_KEY_BYTES;
  for (const key of keys) bytes += key.length;
  return bytes;
}

function nameOf(keys: readonly string[]): string {
  let name = '';
  for (const key of keys) name += `${key.length}:${key}`;
  return name;
}
