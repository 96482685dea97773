import { type Note, setOwn, type Value, type ValueObject } from '../value';

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\r\n]*/y;
const MAX_NOTES = 1000;
const WORDS: readonly [string, Value][] = [
  ['true', true],
  ['false', false],
  ['null', null],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
];

/**
 * A JSON parser for the few texts that JSON.parse would change: it keeps whole numbers beyond 2^53 as bigint and knows the NaN,
 * Infinity and -Infinity that Python writes. Each of these is noted with its path.
 */
export class ExactParser {
  #at = 0;
  readonly notes: Note[] = [];

  constructor(
    private readonly text: string,
    private readonly maxDepth: number,
  ) {}

  /** @throws SyntaxError */
  parse(): Value {
    const value = this.#value('', 0);
    this.#space();
    if (this.#at !== this.text.length) throw new SyntaxError(`unexpected text at position ${this.#at}`);
    return value;
  }

  #note(note: Note): void {
    // A hostile text could make millions of them.
    if (this.notes.length < MAX_NOTES) this.notes.push({ ...note, path: note.path.slice(0, 500) });
  }

  #space(): void {
    SPACE.lastIndex = this.#at;
    SPACE.exec(this.text);
    this.#at = SPACE.lastIndex;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    if (found !== null) this.#at += found.length;
    return found;
  }

  #value(path: string, depth: number): Value {
    if (depth > this.maxDepth) throw new SyntaxError(`nested deeper than ${this.maxDepth}`);
    this.#space();
    const first = this.text[this.#at];
    if (first === '{') return this.#object(path, depth);
    if (first === '[') return this.#list(path, depth);
    if (first === '"') return this.#string();
    for (const [word, value] of WORDS) {
      if (!this.text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      if (typeof value === 'number')
        this.#note({ code: 'not-a-number', path, message: `${word} is no number of JSON` });
      return value;
    }
    return this.#number(path);
  }

  #number(path: string): Value {
    const found = this.#match(NUMBER);
    if (!found) throw new SyntaxError(`expected a value at position ${this.#at}`);
    const value = Number(found);
    if (/^-?\d+$/.test(found) && !Number.isSafeInteger(value)) {
      this.#note({
        code: 'big-integer',
        path,
        message: 'a whole number beyond 2^53 is kept digit by digit',
      });
      return BigInt(found);
    }
    return value;
  }

  /** By hand: a regular expression over a text of megabytes exhausts the stack. */
  #string(): string {
    const start = this.#at;
    if (this.text[start] !== '"') throw new SyntaxError(`expected a text at position ${start}`);
    for (let at = start + 1; at < this.text.length; at++) {
      const character = this.text[at];
      if (character === '\\') at++;
      else if (character === '"') {
        this.#at = at + 1;
        return JSON.parse(this.text.slice(start, at + 1)) as string;
      }
    }
    throw new SyntaxError('a text does not end');
  }

  #list(path: string, depth: number): Value[] {
    const list: Value[] = [];
    this.#at++;
    this.#space();
    if (this.#take(']')) return list;
    do list.push(this.#value(`${path}[${list.length}]`, depth + 1));
    while (this.#more(']'));
    return list;
  }

  #object(path: string, depth: number): ValueObject {
    const object: ValueObject = {};
    this.#at++;
    this.#space();
    if (this.#take('}')) return object;
    do {
      this.#space();
      const key = this.#string();
      this.#space();
      if (!this.#take(':')) throw new SyntaxError(`expected a colon at position ${this.#at}`);
      setOwn(object, key, this.#value(path === '' ? key : `${path}.${key}`, depth + 1));
    } while (this.#more('}'));
    return object;
  }

  #take(character: string): boolean {
    if (this.text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  /** True after a comma, false after the end. */
  #more(end: string): boolean {
    this.#space();
    if (this.#take(',')) return true;
    if (this.#take(end)) return false;
    throw new SyntaxError(`expected a comma or ${end} at position ${this.#at}`);
  }
}
