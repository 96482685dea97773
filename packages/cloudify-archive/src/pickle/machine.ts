import { Budget, call, namedClass, newInstance } from './classes';
import { Cursor } from './cursor';
import { type Node, PyBytes, PyDict, PyList } from './nodes';
import { PickleFault } from './pickle-fault';
import { binaryInteger, decimalFloat, decimalInteger, quotedBytes, rawUnicode, utf8 } from './scalars';

const MAX_PROTOCOL = 5;
const MARK = Symbol('mark');
type Slot = Node | typeof MARK;
type Operation = (machine: Machine) => void;

/**
 * Runs the operations of a pickle. Only data is built: a class is only a name, and a call only the value of one of the few functions
 * that `classes.ts` knows. Work and memory are linear in the length of the pickle.
 */
export class Machine {
  readonly stack: Slot[] = [];
  readonly memo = new Map<number, Node>();
  readonly cursor: Cursor;
  readonly budget: Budget;

  /** `maxWork`: items that calls may copy. */
  constructor(bytes: Buffer, maxWork: number) {
    this.cursor = new Cursor(bytes);
    this.budget = new Budget(maxWork);
  }

  /** @throws PickleFault */
  run(): Node {
    for (;;) {
      const code = this.cursor.byte();
      if (code === STOP) return this.pop();
      const operation = OPERATIONS.get(code);
      if (!operation)
        throw new PickleFault(`the operation 0x${code.toString(16).padStart(2, '0')} is not allowed`);
      operation(this);
    }
  }

  push(node: Node): void {
    this.stack.push(node);
  }

  pop(): Node {
    const top = this.stack.pop();
    if (top === undefined || top === MARK) throw new PickleFault('its stack is empty');
    return top;
  }

  top(): Node {
    const top = this.stack.at(-1);
    if (top === undefined || top === MARK) throw new PickleFault('its stack is empty');
    return top;
  }

  /** All that is above the last mark, which is removed as well. */
  popMark(): Node[] {
    const at = this.stack.lastIndexOf(MARK);
    if (at === -1) throw new PickleFault('a mark is missing');
    const items = this.stack.splice(at) as Node[];
    items.shift();
    return items;
  }

  get(key: number): void {
    const node = this.memo.get(key);
    if (node === undefined) throw new PickleFault('it refers to what it did not keep');
    this.push(node);
  }

  put(key: number): void {
    this.memo.set(key, this.top());
  }
}

const STOP = 0x2e;

const lineNumber = (machine: Machine): number => {
  const text = machine.cursor.line().toString('latin1');
  if (!/^\d{1,9}$/.test(text)) throw new PickleFault('a number of its memo cannot be read');
  return Number(text);
};

function tuple(machine: Machine, length: number): void {
  const items: Node[] = [];
  for (let i = 0; i < length; i++) items.unshift(machine.pop());
  machine.push(new PyList('tuple', items));
}

function append(target: Node, items: readonly Node[]): void {
  if (!(target instanceof PyList) || target.kind === 'tuple')
    throw new PickleFault('it appends to what is no list');
  for (const item of items) target.items.push(item);
}

function setItems(target: Node, items: readonly Node[]): void {
  if (!(target instanceof PyDict) || items.length % 2 !== 0)
    throw new PickleFault('it sets items of what is no dict');
  for (let i = 0; i < items.length; i += 2) target.pairs.push([items[i]!, items[i + 1]!]);
}

function dictOf(items: readonly Node[]): PyDict {
  const dict = new PyDict();
  setItems(dict, items);
  return dict;
}

function argumentsOf(node: Node): readonly Node[] {
  if (!(node instanceof PyList) || node.kind !== 'tuple') throw new PickleFault('arguments are no tuple');
  return node.items;
}

/** Attributes of an instance are no data of a dict or list: they are left out. */
function build(machine: Machine): void {
  const state = machine.pop();
  const instance = machine.top();
  if (instance instanceof PyDict && (state === null || state instanceof PyDict || state instanceof PyList))
    instance.hasAttributes ||= state instanceof PyList || (state?.pairs.length ?? 0) > 0;
  else if (!(instance instanceof PyList && (state === null || state instanceof PyDict)))
    throw new PickleFault('it sets attributes of what has none');
}

function reduce(machine: Machine): void {
  const args = argumentsOf(machine.pop());
  machine.push(call(machine.pop(), args, machine.budget));
}

function newObject(machine: Machine): void {
  const args = argumentsOf(machine.pop());
  machine.push(newInstance(machine.pop(), args, machine.budget));
}

function global(machine: Machine): void {
  const module = machine.cursor.line().toString('latin1');
  machine.push(namedClass(module, machine.cursor.line().toString('latin1')));
}

function stackGlobal(machine: Machine): void {
  const name = machine.pop();
  const module = machine.pop();
  if (typeof name !== 'string' || typeof module !== 'string')
    throw new PickleFault('the name of a class is no text');
  machine.push(namedClass(module, name));
}

const of = (character: string): number => character.charCodeAt(0);
const bytesOf = (machine: Machine, length: number): PyBytes => new PyBytes(machine.cursor.take(length));
const textOf = (machine: Machine, length: number): string => utf8(machine.cursor.take(length));

/** Protocols 0 to 2, and of 3 to 5 what is plain. Persistent ids, extensions, OBJ, INST, NEWOBJ_EX and buffers are not here. */
const OPERATIONS: ReadonlyMap<number, Operation> = new Map<number, Operation>([
  [of('('), (m) => m.stack.push(MARK)],
  [of('0'), (m) => void (m.stack.at(-1) === MARK ? m.stack.pop() : m.pop())],
  [of('1'), (m) => void m.popMark()],
  [of('2'), (m) => m.push(m.top())],
  [of('N'), (m) => m.push(null)],
  [0x88, (m) => m.push(true)],
  [0x89, (m) => m.push(false)],
  [of('I'), (m) => m.push(decimalInteger(m.cursor.line(), true))],
  [of('L'), (m) => m.push(decimalInteger(m.cursor.line(), false))],
  [of('J'), (m) => m.push(m.cursor.int32())],
  [of('K'), (m) => m.push(m.cursor.byte())],
  [of('M'), (m) => m.push(m.cursor.uint(2))],
  [0x8a, (m) => m.push(binaryInteger(m.cursor.take(m.cursor.byte())))],
  [0x8b, (m) => m.push(binaryInteger(m.cursor.take(m.cursor.int32())))],
  [of('F'), (m) => m.push(decimalFloat(m.cursor.line()))],
  [of('G'), (m) => m.push(m.cursor.double())],
  [of('S'), (m) => m.push(quotedBytes(m.cursor.line()))],
  [of('T'), (m) => m.push(bytesOf(m, m.cursor.int32()))],
  [of('U'), (m) => m.push(bytesOf(m, m.cursor.byte()))],
  [of('C'), (m) => m.push(bytesOf(m, m.cursor.byte()))],
  [of('B'), (m) => m.push(bytesOf(m, m.cursor.uint(4)))],
  [0x8e, (m) => m.push(bytesOf(m, m.cursor.length8()))],
  [of('V'), (m) => m.push(rawUnicode(m.cursor.line()))],
  [of('X'), (m) => m.push(textOf(m, m.cursor.uint(4)))],
  [0x8c, (m) => m.push(textOf(m, m.cursor.byte()))],
  [0x8d, (m) => m.push(textOf(m, m.cursor.length8()))],
  [of(']'), (m) => m.push(new PyList('list'))],
  [of('l'), (m) => m.push(new PyList('list', m.popMark()))],
  [of('a'), (m) => appendOne(m)],
  [of('e'), (m) => appendMany(m)],
  [of(')'), (m) => m.push(new PyList('tuple'))],
  [of('t'), (m) => m.push(new PyList('tuple', m.popMark()))],
  [0x85, (m) => tuple(m, 1)],
  [0x86, (m) => tuple(m, 2)],
  [0x87, (m) => tuple(m, 3)],
  [of('}'), (m) => m.push(new PyDict())],
  [of('d'), (m) => m.push(dictOf(m.popMark()))],
  [of('s'), (m) => setOne(m)],
  [of('u'), (m) => setMany(m)],
  [0x8f, (m) => m.push(new PyList('set'))],
  [0x90, (m) => appendMany(m)],
  [0x91, (m) => m.push(new PyList('set', m.popMark()))],
  [of('g'), (m) => m.get(lineNumber(m))],
  [of('h'), (m) => m.get(m.cursor.byte())],
  [of('j'), (m) => m.get(m.cursor.uint(4))],
  [of('p'), (m) => m.put(lineNumber(m))],
  [of('q'), (m) => m.put(m.cursor.byte())],
  [of('r'), (m) => m.put(m.cursor.uint(4))],
  [0x94, (m) => m.put(m.memo.size)],
  [of('c'), global],
  [0x93, stackGlobal],
  [of('R'), reduce],
  [0x81, newObject],
  [of('b'), build],
  [0x80, (m) => checkProtocol(m)],
  // A frame only says how much may be read at once.
  [0x95, (m) => void m.cursor.take(8)],
]);

function checkProtocol(machine: Machine): void {
  const protocol = machine.cursor.byte();
  if (protocol > MAX_PROTOCOL)
    throw new PickleFault(`its protocol ${protocol} is not known; expected 0 to ${MAX_PROTOCOL}`);
}

function appendOne(machine: Machine): void {
  const item = machine.pop();
  append(machine.top(), [item]);
}

function appendMany(machine: Machine): void {
  const items = machine.popMark();
  append(machine.top(), items);
}

function setOne(machine: Machine): void {
  const value = machine.pop();
  const key = machine.pop();
  setItems(machine.top(), [key, value]);
}

function setMany(machine: Machine): void {
  const items = machine.popMark();
  setItems(machine.top(), items);
}
