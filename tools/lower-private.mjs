// Private names of a bundle, made plain properties. Engines take longer over a private name than over a plain one, when they
// parse it and above all when the class is made: a worker's import of the core took Bun a fifth more, and Node a fifteenth.
//
// Privacy is for those who hold an object. So the classes that users get hold of keep it: what a door exports, classes below
// and above that, everything thrown. All others are reached through a private name of one of these only. A class that asks
// `#name in value` keeps it, too. docs/decisions/0035 has the figures.
import { parse } from 'acorn';

/** Instances of these are handed out, though no door exports the class. */
const HANDED_OUT = new Set(['PortEvent']);
/** Classes of the language whose instances are told to users. */
const THROWN = new Set(['Error', 'TypeError', 'RangeError', 'DOMException']);

const childrenOf = (node) =>
  Object.values(node).flatMap((child) =>
    Array.isArray(child)
      ? child.filter((it) => typeof it?.type === 'string')
      : typeof child?.type === 'string'
        ? [child]
        : [],
  );

/** One file of a bundle: its classes, by the names of its top level, and what it takes from the others and gives to them. */
function read(path, text) {
  const { body } = parse(text, { ecmaVersion: 'latest', sourceType: 'module' });
  const file = { path, text, classes: [], named: new Map(), imports: new Map(), exports: new Map(), plain: new Set() };
  for (const statement of body) {
    if (statement.type === 'ImportDeclaration')
      for (const { local, imported } of statement.specifiers)
        file.imports.set(local.name, { from: statement.source.value, name: imported?.name });
    if (statement.type === 'ExportNamedDeclaration')
      for (const { local, exported } of statement.specifiers) file.exports.set(exported.name, local.name);
  }
  visit(file, body, []);
  return file;
}

/** `scopes`: the classes around, the innermost first; `given`: the name of the variable that gets what `nodes` is. */
function visit(file, nodes, scopes, given) {
  for (const node of nodes) {
    if (node.type === 'ClassDeclaration' || node.type === 'ClassExpression') {
      const members = node.body.body.filter(({ key }) => key?.type === 'PrivateIdentifier');
      const namesOf = (some) => new Set(some.map(({ key }) => key.name));
      const made = {
        file,
        name: node.id?.name ?? given,
        superClass: node.superClass,
        names: namesOf(members),
        methods: namesOf(members.filter(({ type }) => type === 'MethodDefinition')),
        uses: [],
        asksIn: false,
      };
      file.classes.push(made);
      if (scopes.length === 0 && made.name !== undefined) file.named.set(made.name, made);
      if (node.superClass !== null) visit(file, [node.superClass], scopes);
      visit(file, node.body.body, [made, ...scopes]);
      continue;
    }
    if (node.type === 'PrivateIdentifier') {
      scopes.find(({ names }) => names.has(node.name)).uses.push(node);
      continue;
    }
    if (node.type === 'BinaryExpression' && node.left.type === 'PrivateIdentifier')
      scopes.find(({ names }) => names.has(node.left.name)).asksIn = true;
    if (node.type === 'MemberExpression' && !node.computed) file.plain.add(node.property.name);
    else if (node.key?.type === 'Identifier') file.plain.add(node.key.name);
    visit(file, childrenOf(node), scopes, node.type === 'VariableDeclarator' ? node.id.name : undefined);
  }
}

/** `files`: path and text of each file of one bundle; `entries`: the paths of doors. The texts without the names that need not be private. */
export function lowerPrivate(files, entries) {
  const read_ = files.map(({ path, text }) => read(path, text));
  const fileAt = (from) => read_.find(({ path }) => from.startsWith('./') && path.endsWith(from.slice(1)));
  /** The class of that name, also when it stands in another file. */
  function find(file, name) {
    const here = file.named.get(name);
    if (here !== undefined) return here;
    const { from, name: there } = file.imports.get(name) ?? {};
    const other = from === undefined ? undefined : fileAt(from);
    return other === undefined ? undefined : find(other, other.exports.get(there));
  }
  const classes = read_.flatMap((file) => file.classes);
  for (const made of classes) {
    const { superClass, file } = made;
    if (superClass?.type === 'Identifier') made.above = find(file, superClass.name);
    made.private = made.asksIn || HANDED_OUT.has(made.name) || THROWN.has(superClass?.name);
  }
  for (const file of read_)
    if (entries.includes(file.path))
      for (const local of file.exports.values()) {
        const made = find(file, local);
        if (made !== undefined) made.private = true;
      }
  const isBelow = (made) => made.above !== undefined && (made.above.private || isBelow(made.above));
  for (const made of classes) made.private ||= isBelow(made);
  for (const made of classes)
    if (made.private) for (let it = made.above; it !== undefined; it = it.above) it.private = true;
  /** Classes of one line may have the same names, which then must differ. */
  const depthOf = ({ above, superClass }) => (above === undefined ? (superClass === null ? 1 : 2) : depthOf(above) + 1);
  const taken = new Set(read_.flatMap((file) => [...file.plain]));
  for (const made of classes) for (const name of made.methods) taken.add('_'.repeat(depthOf(made)) + name);
  return read_.map(({ path, text, classes: own }) => {
    const edits = own
      .filter((made) => !made.private)
      .flatMap((made) => {
        const names = namesFor(made, depthOf(made), taken);
        return made.uses.map((node) => ({ node, name: names.get(node.name) }));
      });
    let at = 0;
    let done = '';
    for (const { node, name } of edits.sort((a, b) => a.node.start - b.node.start)) {
      // Blanks go when blanks go; until then they keep the columns that a source map speaks of.
      done += text.slice(at, node.start) + name.padEnd(node.end - node.start);
      at = node.end;
    }
    return { path, text: done + text.slice(at) };
  });
}

/** Methods keep theirs, which stand in stacks. Fields get short ones, as a minifier gives them, the same in every class. */
function namesFor({ file, names, methods, uses }, depth, taken) {
  const prefix = '_'.repeat(depth);
  const counts = new Map([...names].map((name) => [name, 0]));
  for (const { name } of uses) counts.set(name, counts.get(name) + 1);
  const fields = [...names].filter((name) => !methods.has(name)).sort((a, b) => counts.get(b) - counts.get(a));
  const given = new Map([...methods].map((name) => [name, prefix + name]));
  for (const name of given.values())
    if (file.plain.has(name)) throw new Error(`${name} is a property already: ${file.path}`);
  let next = 0;
  for (const field of fields) {
    while (taken.has(prefix + letters(next))) next++;
    given.set(field, prefix + letters(next++));
  }
  return given;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
function letters(n) {
  return n < LETTERS.length ? LETTERS[n] : letters(Math.floor(n / LETTERS.length) - 1) + LETTERS[n % LETTERS.length];
}
