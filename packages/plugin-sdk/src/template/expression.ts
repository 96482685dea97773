import type { Json } from '@baton/kernel';
import { nearestName } from '@baton/kernel';
import { bounded } from './bounds';
import { filters } from './filters';
import { percentFormat } from './format-text';
import { methods } from './methods';
import { tests } from './tests';
import { TemplateError, type Token, tokenize } from './tokens';
import { contains, isTrue, memberOf, newNamespace, sliceOf, toText, type Value } from './values';

export type Scope = Readonly<Record<string, Value>>;
export type Expression = (scope: Scope) => Value;

const MAX_RANGE = 100_000;
const CONSTANTS: Record<string, Json> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
};
const COMPARE: Record<string, (a: Value, b: Value) => boolean> = {
  '==': (a, b) => JSON.stringify(a) === JSON.stringify(b),
  '!=': (a, b) => JSON.stringify(a) !== JSON.stringify(b),
  '<': (a, b) => (a as number) < (b as number),
  '>': (a, b) => (a as number) > (b as number),
  '<=': (a, b) => (a as number) <= (b as number),
  '>=': (a, b) => (a as number) >= (b as number),
};
const number = (value: Value): number => Number(value ?? Number.NaN);
const ADD: Record<string, (a: Value, b: Value) => Value> = {
  '+': (a, b) =>
    typeof a === 'number' && typeof b === 'number'
      ? a + b
      : Array.isArray(a) && Array.isArray(b)
        ? [...a, ...b]
        : toText(a) + toText(b),
  '-': (a, b) => number(a) - number(b),
  '~': (a, b) => toText(a) + toText(b),
};
const MULTIPLY: Record<string, (a: Value, b: Value) => Value> = {
  '**': (a, b) => number(a) ** number(b),
  '*': (a, b) => number(a) * number(b),
  '/': (a, b) => number(a) / number(b),
  '//': (a, b) => Math.floor(number(a) / number(b)),
  '%': (a, b) =>
    typeof a === 'string' ? percentFormat(a, Array.isArray(b) ? b : [b]) : number(a) % number(b),
};

/** Arguments of a call, evaluated when it runs. */
interface Args {
  given: (scope: Scope) => Value[];
  named: (scope: Scope) => Readonly<Record<string, Value>>;
}

const NO_ARGUMENTS: Args = { given: () => [], named: () => ({}) };

/** Absent values as null. */
const asValue = (named: Readonly<Record<string, Value>>): Value =>
  Object.fromEntries(Object.entries(named).map(([name, value]) => [name, value ?? null]));

/** Reads expressions from tokens, with one method per precedence level; makes closures instead of a tree. */
export class ExpressionReader {
  #at = 0;
  readonly #tokens: Token[];
  constructor(
    text: string,
    private readonly line: number,
  ) {
    this.#tokens = tokenize(text, line);
  }

  /** Consumes the next token when it is this word or sign. */
  takes(text: string): boolean {
    const token = this.#tokens[this.#at];
    if (!token || (token.kind !== 'op' && token.kind !== 'name') || token.text !== text) return false;
    this.#at++;
    return true;
  }
  needs(text: string): void {
    if (!this.takes(text)) throw this.#fail(`expected "${text}"`);
  }
  name(): string {
    const token = this.#tokens[this.#at++];
    if (token?.kind !== 'name') throw this.#fail('expected a name');
    return token.text;
  }
  end(): void {
    if (this.#at < this.#tokens.length) throw this.#fail('unexpected words');
  }

  /** What a loop goes over: an `if` behind it belongs to the loop. */
  iterable(): Expression {
    return this.#or();
  }

  /** `a if condition else b`, the form with the lowest precedence. */
  expression(): Expression {
    const value = this.#or();
    if (!this.takes('if')) return value;
    const condition = this.#or();
    const otherwise = this.takes('else') ? this.expression() : () => undefined;
    return (s) => (isTrue(condition(s)) ? value(s) : otherwise(s));
  }

  #or(): Expression {
    let left = this.#and();
    while (this.takes('or')) {
      const [a, b] = [left, this.#and()];
      left = (s) => (isTrue(a(s)) ? a(s) : b(s));
    }
    return left;
  }
  #and(): Expression {
    let left = this.#not();
    while (this.takes('and')) {
      const [a, b] = [left, this.#not()];
      left = (s) => (isTrue(a(s)) ? b(s) : a(s));
    }
    return left;
  }
  #not(): Expression {
    if (!this.takes('not')) return this.#compare();
    const value = this.#not();
    return (s) => !isTrue(value(s));
  }
  #compare(): Expression {
    let left = this.#binary(ADD, () => this.#binary(MULTIPLY, () => this.#unary()));
    const operand = (): Expression => this.#binary(ADD, () => this.#binary(MULTIPLY, () => this.#unary()));
    for (;;) {
      const sign = Object.keys(COMPARE).find((op) => this.takes(op));
      const a = left;
      if (sign) {
        const b = operand();
        left = (s) => COMPARE[sign]?.(a(s), b(s)) ?? false;
      } else if (this.takes('in')) {
        const b = operand();
        left = (s) => contains(b(s), a(s));
      } else if (this.takes('not')) {
        this.needs('in');
        const b = operand();
        left = (s) => !contains(b(s), a(s));
      } else if (this.takes('is')) left = this.#test(a);
      else return left;
    }
  }
  #test(value: Expression): Expression {
    const isNegated = this.takes('not');
    const name = this.name();
    const test = Object.hasOwn(tests, name) ? tests[name] : undefined;
    if (!test) throw this.#fail(`no test "${name}"`, nearestName(name, Object.keys(tests)));
    const { given } = this.takes('(') ? this.#arguments() : this.#bareArgument();
    return (s) => test(value(s), given(s).at(0)) !== isNegated;
  }
  /** `x is divisibleby 3`: an argument without parentheses. */
  #bareArgument(): Args {
    const token = this.#tokens[this.#at];
    const begins =
      token?.kind === 'string' || token?.kind === 'number' || (token?.kind === 'op' && token.text === '[');
    const isName =
      token?.kind === 'name' && !['and', 'or', 'if', 'else', 'is', 'in', 'not'].includes(token.text);
    if (!begins && !isName) return { given: () => [], named: () => ({}) };
    const argument = this.#postfix(this.#primary());
    return { given: (s) => [argument(s)], named: () => ({}) };
  }
  #binary(table: Record<string, (a: Value, b: Value) => Value>, next: () => Expression): Expression {
    let left = next();
    for (;;) {
      const sign = Object.keys(table).find((op) => this.takes(op));
      if (!sign) return left;
      const [a, b, apply] = [left, next(), table[sign] as (a: Value, b: Value) => Value];
      left = (s) => bounded(apply(a(s), b(s)));
    }
  }
  #unary(): Expression {
    if (!this.takes('-')) return this.#postfix(this.#primary());
    const value = this.#unary();
    return (s) => -number(value(s));
  }
  #postfix(start: Expression): Expression {
    let value = start;
    for (;;) {
      const a = value;
      if (this.takes('.')) {
        const name = this.name();
        value = this.takes('(') ? this.#method(a, name) : (s) => memberOf(a(s), name);
      } else if (this.takes('[')) value = this.#subscript(a);
      else if (this.takes('|')) value = this.#filter(a);
      else return value;
    }
  }
  /** A key, a position, or a part of a list or text: `[1:3]`. */
  #subscript(value: Expression): Expression {
    const bounds: (Expression | undefined)[] = [];
    let isSlice = false;
    for (;;) {
      const isEmpty = [':', ']'].some((sign) => this.#sees(sign));
      bounds.push(isEmpty ? undefined : this.expression());
      if (!this.takes(':')) break;
      isSlice = true;
    }
    this.needs(']');
    const [first, ...others] = bounds;
    if (isSlice)
      return (s) =>
        sliceOf(
          value(s),
          [first, ...others].map((one) => one?.(s)),
        );
    if (first === undefined) throw this.#fail('expected a key');
    return (s) => memberOf(value(s), first(s));
  }
  #sees(text: string): boolean {
    const token = this.#tokens[this.#at];
    return token?.kind === 'op' && token.text === text;
  }
  #method(value: Expression, name: string): Expression {
    const { given, named } = this.#arguments();
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
    if (!method) throw this.#fail(`no method "${name}"`, nearestName(name, Object.keys(methods)));
    return (s) => bounded(method(value(s), given(s), named(s)));
  }
  #filter(value: Expression): Expression {
    const name = this.name();
    const { given, named } = this.takes('(') ? this.#arguments() : NO_ARGUMENTS;
    const filter = Object.hasOwn(filters, name) ? filters[name] : undefined;
    if (!filter) throw this.#fail(`no filter "${name}"`, nearestName(name, Object.keys(filters)));
    return (s) => bounded(filter(value(s), given(s), named(s)));
  }
  /** Arguments up to the closing parenthesis, some of them with names. */
  #arguments(): Args {
    const given: Expression[] = [];
    const named: [string, Expression][] = [];
    while (!this.takes(')')) {
      if (given.length + named.length > 0) this.needs(',');
      if (this.takes(')')) break;
      const [token, next] = [this.#tokens[this.#at], this.#tokens[this.#at + 1]];
      if (token?.kind === 'name' && next?.kind === 'op' && next.text === '=') {
        this.#at += 2;
        named.push([token.text, this.expression()]);
      } else given.push(this.expression());
    }
    return {
      given: (s) => given.map((one) => one(s)),
      named: (s) => Object.fromEntries(named.map(([name, one]) => [name, one(s)])),
    };
  }
  #list(close: string): Expression[] {
    const items: Expression[] = [];
    while (!this.takes(close)) {
      if (items.length > 0) this.needs(',');
      if (!this.takes(close)) items.push(this.expression());
      else break;
    }
    return items;
  }
  #dictionary(): Expression {
    const entries: [Expression, Expression][] = [];
    while (!this.takes('}')) {
      if (entries.length > 0) this.needs(',');
      if (this.takes('}')) break;
      const key = this.expression();
      this.needs(':');
      entries.push([key, this.expression()]);
    }
    return (s) =>
      bounded(Object.fromEntries(entries.map(([key, value]) => [toText(key(s)), value(s) ?? null])));
  }
  #primary(): Expression {
    if (this.takes('(')) {
      const inner = this.expression();
      if (!this.takes(',')) {
        this.needs(')');
        return inner;
      }
      const items = [inner, ...this.#list(')')];
      return (s) => bounded(items.map((i) => i(s) ?? null));
    }
    if (this.takes('[')) {
      const items = this.#list(']');
      return (s) => bounded(items.map((i) => i(s) ?? null));
    }
    if (this.takes('{')) return this.#dictionary();
    const token = this.#tokens[this.#at++];
    if (token?.kind === 'string') return () => token.text;
    if (token?.kind === 'number') return () => token.value;
    if (token?.kind !== 'name') throw this.#fail('expected a value');
    const { text: name } = token;
    if (Object.hasOwn(CONSTANTS, name)) return () => CONSTANTS[name];
    if (name === 'range' && this.takes('(')) return this.#range();
    if (name === 'dict' && this.takes('(')) {
      const { named } = this.#arguments();
      return (s) => bounded(asValue(named(s)));
    }
    if (name === 'namespace' && this.takes('(')) {
      const { named } = this.#arguments();
      return (s) => newNamespace(named(s));
    }
    return (s) => (Object.hasOwn(s, name) ? s[name] : undefined);
  }
  #range(): Expression {
    const args = this.#list(')');
    return (s) => {
      const given = args.map((a) => number(a(s)));
      const [from, to] = given.length > 1 ? [given[0] as number, given[1] as number] : [0, given[0] ?? 0];
      const by = given[2] ?? 1;
      const length = Math.max(0, Math.ceil((to - from) / by));
      if (!(length <= MAX_RANGE)) throw this.#fail(`range of more than ${MAX_RANGE}`);
      return Array.from({ length }, (_, i) => from + i * by);
    };
  }
  #fail(message: string, nearest: string | null = null): TemplateError {
    return new TemplateError(nearest ? `${message}; did you mean ${nearest}?` : message, this.line);
  }
}
