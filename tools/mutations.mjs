// One-token changes that a test suite should notice: where they can be made in a file of JavaScript, and how.
import { parse } from 'acorn';

const SWAPS = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '==': '!=',
  '!=': '==',
  '+': '-',
  '-': '+',
  '*': '+',
  '&': '|',
  '|': '&',
  '>>>': '<<',
  '<<': '>>>',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+=': '-=',
  '-=': '+=',
};

/** Statements that can be left out: what they do must have been missed by somebody. */
const EFFECTS = new Set(['CallExpression', 'AssignmentExpression', 'UpdateExpression', 'AwaitExpression']);

function isText(node) {
  return (node.type === 'Literal' && typeof node.value === 'string') || node.type === 'TemplateLiteral';
}

/** The changes that one node offers: `{ start, end, text, change }`. */
function changesOf(node, source) {
  const swap = (left, right, operator) => {
    // Between the operands stand the operator, blanks and parentheses.
    const start = source.indexOf(operator, left.end);
    if (SWAPS[operator] === undefined || start < 0 || start >= right.start) return [];
    const text = SWAPS[operator];
    return [{ start, end: start + operator.length, text, change: `${operator} to ${text}` }];
  };
  switch (node.type) {
    case 'BinaryExpression':
      // Putting a message together is nobody's business.
      if (node.operator === '+' && (isText(node.left) || isText(node.right))) return [];
      return swap(node.left, node.right, node.operator);
    case 'LogicalExpression':
    case 'AssignmentExpression':
      return swap(node.left, node.right, node.operator);
    case 'UnaryExpression':
      return node.operator === '!' ? [{ start: node.start, end: node.start + 1, text: '', change: '! left out' }] : [];
    case 'UpdateExpression': {
      const start = node.prefix ? node.start : node.end - 2;
      const text = node.operator === '++' ? '--' : '++';
      return [{ start, end: start + 2, text, change: `${node.operator} to ${text}` }];
    }
    case 'ExpressionStatement':
      if (!EFFECTS.has(node.expression.type)) return [];
      return [{ start: node.start, end: node.end, text: ';', change: 'statement left out' }];
    case 'IfStatement':
    case 'ConditionalExpression': {
      const { start, end } = node.test;
      return [{ start, end, text: `!(${source.slice(start, end)})`, change: 'condition turned round' }];
    }
    case 'Literal': {
      const { start, end, value } = node;
      if (typeof value === 'boolean') return [{ start, end, text: String(!value), change: `${value} to ${!value}` }];
      if (typeof value === 'number')
        return [{ start, end, text: String(value + 1), change: `${value} to ${value + 1}` }];
      return [];
    }
    default:
      return [];
  }
}

/** Every change that can be made in `source`, in the order of the text. */
export function changesIn(source) {
  const found = [];
  const visit = (node) => {
    if (Array.isArray(node)) {
      for (const each of node) visit(each);
    } else if (typeof node?.type === 'string') {
      found.push(...changesOf(node, source));
      for (const key of Object.keys(node)) if (typeof node[key] === 'object' && node[key] !== null) visit(node[key]);
    }
  };
  visit(parse(source, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true }));
  return found.sort((a, b) => a.start - b.start || a.end - b.end);
}

export function apply(source, { start, end, text }) {
  return source.slice(0, start) + text + source.slice(end);
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `count` of `items`, drawn by `next`, each at most once. */
export function sample(items, count, next) {
  const rest = [...items];
  const drawn = [];
  while (drawn.length < count && rest.length > 0) {
    const at = Math.floor(next() * rest.length);
    drawn.push(rest[at]);
    rest[at] = rest.at(-1);
    rest.pop();
  }
  return drawn;
}
