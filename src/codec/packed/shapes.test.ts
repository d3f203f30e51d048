import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SHAPE_BYTES_MAX, SHAPE_KEY_BYTES, SHAPE_KEY_LENGTH_MAX, SHAPES_MAX } from '../../limits.ts';
import { SHAPE_LOCAL } from './format.ts';
import { type ShapeNode, ShapeTree, shapeBytes } from './shapes.ts';

function walk(tree: ShapeTree, keys: readonly string[]): ShapeNode | null {
  let node: ShapeNode | null = tree.root;
  for (const key of keys) if (node !== null) node = tree.step(node, key);
  return node;
}

test('numbers go on from tree to tree, and begin anew before they meet those of one payload only', () => {
  const tree = new ShapeTree();
  tree.define(walk(tree, ['a']) as ShapeNode, true);
  tree.define(walk(tree, ['a', 'b']) as ShapeNode, true);
  tree.commit();
  assert.equal(tree.known, 3);
  const next = tree.successor();
  assert.equal(next.known, 3);
  assert.equal(next.begun, false);
  assert.equal(next.define(walk(next, ['a']) as ShapeNode, true), 3);
  next.rollback();
  assert.equal(next.begun, false);
  assert.equal(next.successor().known, 3, 'what was taken back was never given');
  const last = SHAPE_LOCAL - SHAPES_MAX;
  assert.equal(new ShapeTree(last).successor().known, last);
  assert.equal(new ShapeTree(last + 1).successor().known, 1);
});

test('a tree is full when its nodes count for more than a decoder keeps', () => {
  const tree = new ShapeTree();
  let bytes = 0;
  for (let i = 0; !tree.full; i++) {
    // Side by side in places of their own, so that nothing else bounds them.
    let from = tree.root;
    for (const step of [`x${i >> 10}`, `y${(i >> 5) & 31}`]) {
      const node = tree.step(from, step);
      if (node === null) break;
      from = node.inner ?? tree.inner(node);
    }
    const keys = Array.from({ length: 40 }, (_, k) => `k${i}_${k}`.padEnd(SHAPE_KEY_LENGTH_MAX, '.'));
    let node: ShapeNode | null = from;
    for (const key of keys) {
      node = tree.step(node, key);
      if (node === null) break;
      assert.equal(node.bytes, shapeBytes(node.keys));
      assert.equal(node.bytes, node.keys.length * (SHAPE_KEY_BYTES + SHAPE_KEY_LENGTH_MAX));
      bytes += node.bytes;
    }
  }
  assert.ok(bytes <= SHAPE_BYTES_MAX && bytes > SHAPE_BYTES_MAX * 0.9, `${bytes} bytes`);
});
