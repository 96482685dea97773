import { type Note, setOwn, type Value, type ValueObject } from '../value';
import { ClassName, type Node, PyBytes, PyDate, PyDict, PyList } from './nodes';
import { PickleFault } from './pickle-fault';
import { isCleanUtf8, utf8 } from './scalars';

export interface ValueLimits {
  maxDepth: number;
  /** Objects of the value as written out: a shared one counts each time. 64 characters of text count as one more. */
  maxObjects: number;
}

/**
 * Makes a value of nodes, as Python's json.dumps writes it: tuples and sets become lists, keys become texts. Objects that are shared
 * stay shared. What JSON cannot hold is noted with its path.
 */
export class ValueMaker {
  readonly notes: Note[] = [];
  readonly #done = new Map<PyList | PyDict, { value: Value; objects: number; height: number }>();
  readonly #texts = new Map<PyBytes, string>();
  readonly #open = new Set<PyList | PyDict>();
  #objects = 0;
  /** The deepest level that was reached since it was last reset. */
  #deepest = 0;

  constructor(private readonly limits: ValueLimits) {}

  /** @throws PickleFault */
  make(node: Node, path = '', depth = 0): Value {
    this.#count(1);
    this.#reach(depth);
    if (typeof node === 'string') this.#count(node.length >> 6);
    if (node instanceof PyList || node instanceof PyDict) return this.#container(node, path, depth);
    if (node instanceof PyBytes) return this.#text(node, path);
    if (node instanceof PyDate) {
      this.#note('date-as-text', path, 'a date of Python is written as text');
      return node.text;
    }
    if (node instanceof ClassName) throw new PickleFault(`it holds the class ${node.name} itself`);
    if (typeof node === 'bigint')
      this.#note('big-integer', path, 'a whole number beyond 2^53 is kept digit by digit');
    if (typeof node === 'number' && !Number.isFinite(node))
      this.#note('not-a-number', path, `${node} is no number of JSON`);
    return node;
  }

  #note(code: Note['code'], path: string, message: string): void {
    // A hostile value could make millions of them.
    if (this.notes.length < 1000) this.notes.push({ code, path: path.slice(0, 500), message });
  }

  #container(node: PyList | PyDict, path: string, depth: number): Value {
    const done = this.#done.get(node);
    if (done) {
      this.#count(done.objects);
      this.#reach(depth + done.height);
      return done.value;
    }
    if (this.#open.has(node)) throw new PickleFault('it contains itself');
    this.#open.add(node);
    const before = this.#objects;
    const deepest = this.#deepest;
    this.#deepest = depth;
    const value = node instanceof PyDict ? this.#object(node, path, depth) : this.#list(node, path, depth);
    this.#open.delete(node);
    this.#done.set(node, { value, objects: this.#objects - before, height: this.#deepest - depth });
    this.#deepest = Math.max(this.#deepest, deepest);
    return value;
  }

  #count(objects: number): void {
    this.#objects += objects;
    if (this.#objects > this.limits.maxObjects)
      throw new PickleFault(`it holds more than ${this.limits.maxObjects} objects`);
  }

  #reach(depth: number): void {
    if (depth > this.limits.maxDepth)
      throw new PickleFault(`it is nested deeper than ${this.limits.maxDepth}`);
    this.#deepest = Math.max(this.#deepest, depth);
  }

  #list(node: PyList, path: string, depth: number): Value[] {
    if (node.kind === 'set') this.#note('set-as-list', path, 'a set of Python is written as a list');
    return node.items.map((item, i) => this.make(item, `${path}[${i}]`, depth + 1));
  }

  #object(node: PyDict, path: string, depth: number): ValueObject {
    if (node.hasAttributes)
      this.#note('lossy-source', path, 'attributes of an instance of Python are left out');
    const object: ValueObject = {};
    for (const [key, item] of node.pairs) {
      const name = this.#key(key, path);
      setOwn(object, name, this.make(item, path === '' ? name : `${path}.${name}`, depth + 1));
    }
    return object;
  }

  #key(key: Node, path: string): string {
    if (typeof key === 'string') {
      this.#count(key.length >> 6);
      return key;
    }
    if (key instanceof PyBytes) return this.#text(key, path);
    if (key === null || ['boolean', 'number', 'bigint'].includes(typeof key)) {
      this.#note('key-as-text', path, 'a key of a dict is no text and is written as one');
      return String(key);
    }
    throw new PickleFault('a key of a dict is neither text nor number');
  }

  #text(node: PyBytes, path: string): string {
    let text = this.#texts.get(node);
    if (text === undefined) {
      if (!isCleanUtf8(node.bytes))
        throw new PickleFault(`a byte string is no UTF-8${path === '' ? '' : ` (at ${path.slice(0, 500)})`}`);
      this.#texts.set(node, (text = utf8(node.bytes)));
    }
    this.#count(text.length >> 6);
    return text;
  }
}
