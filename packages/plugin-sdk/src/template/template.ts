import type { Json, JsonObject } from '@baton/kernel';
import { FatalError } from '../errors';
import { type Expression, ExpressionReader } from './expression';
import { type Segment, splitTemplate, TemplateError } from './tokens';
import { isTrue, iterate, setInNamespace, toText, type Value } from './values';

/**
 * The part of Jinja2 that blueprints use: output, if/elif/else, for/if/else, set, raw, namespaces, comments, white-space control,
 * filters (filters.ts), methods of Python (methods.ts) and tests (tests.ts). Written here instead of taken from a library, because templates come from users and are
 * rendered inside the worker: only own keys of JSON values can be reached, and loops and output are bounded.
 */
type Block = (scope: Record<string, Value>, out: Output) => void;

const MAX_OUTPUT_CHARS = 16 * 1024 * 1024;
const MAX_STEPS = 1_000_000;
/** During this time nothing else runs in the worker, and its leases are not renewed. */
const MAX_MS = 2_000;

/** Limits that all outputs of one rendering share. */
interface Spent {
  size: number;
  steps: number;
  readonly startedAt: number;
}

class Output {
  #parts: string[] = [];
  constructor(private readonly spent: Spent = { size: 0, steps: 0, startedAt: performance.now() }) {}
  /** An output whose text becomes a value. */
  inner(): Output {
    return new Output(this.spent);
  }
  write(text: string): void {
    this.look();
    this.spent.size += text.length;
    if (this.spent.size > MAX_OUTPUT_CHARS)
      throw new TemplateError(`more than ${MAX_OUTPUT_CHARS} characters`, 0);
    this.#parts.push(text);
  }
  step(): void {
    this.look();
    if (++this.spent.steps > MAX_STEPS) throw new TemplateError(`more than ${MAX_STEPS} steps`, 0);
  }
  /** Called after each expression: the template's author decides the length of a single expression. */
  look(): void {
    if (performance.now() - this.spent.startedAt > MAX_MS)
      throw new TemplateError(`it takes more than ${MAX_MS} ms to render`, 0);
  }
  text(): string {
    return this.#parts.join('');
  }
}

/** Whether a text contains a template mark. */
export function hasTemplate(text: string): boolean {
  return /\{\{|\{#|\{%/.test(text);
}

/** @throws FatalError with `path` and the line of the error. */
export function renderTemplate(text: string, variables: JsonObject, path: string): string {
  try {
    const reader = new BlockReader(splitTemplate(text.endsWith('\n') ? text.slice(0, -1) : text));
    const block = reader.block([]);
    const out = new Output();
    block({ ...variables }, out);
    return out.text();
  } catch (thrown) {
    // Too long a text, or a list inside of itself.
    const error = thrown instanceof RangeError ? new TemplateError('a value has no end', 0) : thrown;
    if (!(error instanceof TemplateError)) throw error;
    throw new FatalError(`template ${path}: ${error.message}`, {
      exceptionType: 'TemplateSyntaxError',
      cause: error,
    });
  }
}

class BlockReader {
  #at = 0;
  /** The word that ended the last block and the rest of its statement. */
  #ender: { word: string; rest: string; line: number } = { word: '', rest: '', line: 0 };
  constructor(private readonly segments: Segment[]) {}

  /** Reads up to a statement that begins with one of `enders`; with none, up to the end of the text. */
  block(enders: readonly string[]): Block {
    const parts: Block[] = [];
    for (; this.#at < this.segments.length; this.#at++) {
      const segment = this.segments[this.#at] as Segment;
      if (segment.kind === 'text') parts.push((_, out) => out.write(segment.text));
      else if (segment.kind === 'output') {
        const value = whole(segment.text, segment.line);
        parts.push((scope, out) => out.write(toText(value(scope))));
      } else {
        const [, word = '', rest = ''] = /^(\w+)\s*(.*)$/s.exec(segment.text) ?? [];
        if (enders.includes(word)) {
          this.#at++;
          this.#ender = { word, rest, line: segment.line };
          return sequence(parts);
        }
        this.#at++;
        parts.push(this.#statement(word, rest, segment.line));
        this.#at--;
      }
    }
    if (enders.length > 0)
      throw new TemplateError(`missing {% ${enders.at(-1)} %}`, this.segments.at(-1)?.line ?? 1);
    return sequence(parts);
  }

  #statement(word: string, rest: string, line: number): Block {
    if (word === 'if') return this.#if(rest, line);
    if (word === 'for') return this.#for(rest, line);
    if (word === 'set') return this.#set(rest, line);
    throw new TemplateError(`unknown statement {% ${word} %}; expected if, for or set`, line);
  }

  /** `set name = value`, `set namespace.name = value`, and `set name` with a text up to endset. */
  #set(rest: string, line: number): Block {
    const reader = new ExpressionReader(rest, line);
    const name = reader.name();
    const key = reader.takes('.') ? reader.name() : null;
    if (!reader.takes('=')) {
      reader.end();
      const body = this.block(['endset']);
      return (scope, out) => {
        const inner = out.inner();
        body({ ...scope }, inner);
        scope[name] = inner.text();
      };
    }
    const value = reader.expression();
    reader.end();
    return (scope, out) => {
      const given = value(scope);
      if (key === null) scope[name] = given;
      else if (!Object.hasOwn(scope, name) || !setInNamespace(scope[name], key, given))
        throw new TemplateError(`${name} is no namespace: its ${key} cannot be set`, line);
      out.look();
    };
  }

  #if(rest: string, line: number): Block {
    const condition = whole(rest, line);
    const yes = this.block(['elif', 'else', 'endif']);
    const ender = this.#ender;
    let no: Block = () => undefined;
    if (ender.word === 'elif') no = this.#if(ender.rest, ender.line);
    else if (ender.word === 'else') no = this.block(['endif']);
    return (scope, out) => {
      const isMet = isTrue(condition(scope));
      out.look();
      (isMet ? yes : no)(scope, out);
    };
  }

  #for(rest: string, line: number): Block {
    const reader = new ExpressionReader(rest, line);
    const names = [reader.name()];
    while (reader.takes(',')) names.push(reader.name());
    reader.needs('in');
    const list = reader.iterable();
    const condition = reader.takes('if') ? reader.expression() : null;
    reader.end();
    const body = this.block(['else', 'endfor']);
    const otherwise: Block = this.#ender.word === 'else' ? this.block(['endfor']) : () => undefined;
    return (scope, out) => {
      const named = (item: Json): Record<string, Value> => {
        const bound = names.length === 1 ? [item] : iterate(item);
        return Object.fromEntries(names.map((name, k) => [name, bound[k]]));
      };
      const items = iterate(list(scope)).filter((item) => {
        if (condition === null) return true;
        out.step();
        return isTrue(condition({ ...scope, ...named(item) }));
      });
      if (items.length === 0) return otherwise(scope, out);
      for (const [i, item] of items.entries()) {
        out.step();
        body({ ...scope, ...named(item), loop: loopAt(i, items) }, out);
      }
    };
  }
}

/** What a loop knows about its place. */
const loopAt = (i: number, items: readonly Json[]): JsonObject => ({
  index: i + 1,
  index0: i,
  revindex: items.length - i,
  revindex0: items.length - i - 1,
  first: i === 0,
  last: i === items.length - 1,
  length: items.length,
});

function sequence(parts: Block[]): Block {
  return (scope, out) => {
    for (const part of parts) part(scope, out);
  };
}

function whole(text: string, line: number): Expression {
  const reader = new ExpressionReader(text, line);
  const value = reader.expression();
  reader.end();
  return value;
}
