// What esbuild makes of a bundle's top level, put right. It declares everything there with `var`, which no engine takes for
// constant: a round trip on Node 20 and 24 cost 4 to 12 % more than over modules, and costs the same with `const`. And a
// class that names itself in its own body comes out as `var Port = class _Port`, as stacks and `util.inspect` would call it.
import { parse } from 'acorn';

/** The names that `node` assigns to. Names are looked at and not scopes: a local of the same name costs a `let`. */
function assigned(node, names = new Set()) {
  if (Array.isArray(node)) for (const each of node) assigned(each, names);
  else if (typeof node?.type === 'string') {
    if (node.type === 'AssignmentExpression' || node.type === 'ForOfStatement' || node.type === 'ForInStatement')
      targets(node.left, names);
    else if (node.type === 'UpdateExpression') targets(node.argument, names);
    for (const child of Object.values(node)) if (typeof child === 'object') assigned(child, names);
  }
  return names;
}
function targets(node, names) {
  if (node?.type === 'Identifier') names.add(node.name);
  else if (node?.type === 'AssignmentPattern') targets(node.left, names);
  else if (node?.type === 'RestElement') targets(node.argument, names);
  else if (node?.type === 'ArrayPattern') for (const each of node.elements) targets(each, names);
  else if (node?.type === 'ObjectPattern')
    for (const each of node.properties) targets(each.value ?? each.argument, names);
}

/** `text` with constants for constants, and each declaration a statement. Lines stay, columns move by a few within them. */
export function putRight(text) {
  const { body } = parse(text, { ecmaVersion: 'latest', sourceType: 'module' });
  const changing = assigned(body);
  const edits = [];
  const edit = (start, end, by) => edits.push({ start, end, by });
  for (const statement of body) {
    if (statement.type !== 'VariableDeclaration' || statement.kind !== 'var') continue;
    edit(statement.start, statement.start + 3, '');
    let before;
    for (const { start, end, id, init } of statement.declarations) {
      if (before !== undefined) edit(before, text.indexOf(',', before) + 1, ';');
      before = end;
      if (init?.type === 'ClassExpression' && init.id?.name === `_${id.name}`) {
        edit(start, init.id.end, `class ${id.name}`);
        const inside = new RegExp(`(?<![\\w$#.])_${id.name}\\b`, 'g');
        for (const { index } of text.matchAll(inside)) if (index > init.id.start) edit(index, index + 1, '');
      } else {
        edit(start, start, init !== null && (id.type !== 'Identifier' || !changing.has(id.name)) ? 'const ' : 'let ');
      }
    }
  }
  let at = 0;
  let done = '';
  for (const { start, end, by } of edits.sort((a, b) => a.start - b.start)) {
    done += text.slice(at, start) + by;
    at = end;
  }
  return done + text.slice(at);
}
