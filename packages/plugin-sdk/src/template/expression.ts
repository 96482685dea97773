import type { Json } from '@baton/kernel';
import { nearestName } from '@baton/kernel';
import { TemplateError, type Token, tokenize } from './tokens';
import { contains, filters, isTrue, memberOf, methods, tests, toText, type Value } from './values';

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
  '*': (a, b) => number(a) * number(b),
  '/': (a, b) => number(a) / number(b),
  '//': (a, b) => Math.floor(number(a) / number(b)),
  '%': (a, b) => number(a) % number(b),
};

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
    return (s) => test(value(s)) !== isNegated;
  }
  #binary(table: Record<string, (a: Value, b: Value) => Value>, next: () => Expression): Expression {
    let left = next();
    for (;;) {
      const sign = Object.keys(table).find((op) => this.takes(op));
      if (!sign) return left;
      const [a, b, apply] = [left, next(), table[sign] as (a: Value, b: Value) => Value];
      left = (s) => apply(a(s), b(s));
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
      } else if (this.takes('[')) {
        const key = this.expression();
        this.needs(']');
        value = (s) => memberOf(a(s), key(s));
      } else if (this.takes('|')) value = this.#filter(a);
      else return value;
    }
  }
  #method(value: Expression, name: string): Expression {
    const args = this.#list(')');
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
    if (!method) throw this.#fail(`no method "${name}"`, nearestName(name, Object.keys(methods)));
    return (s) =>
      method(
        value(s),
        args.map((a) => a(s)),
      );
  }
  #filter(value: Expression): Expression {
    const name = this.name();
    const args = this.takes('(') ? this.#list(')') : [];
    const filter = Object.hasOwn(filters, name) ? filters[name] : undefined;
    if (!filter) throw this.#fail(`no filter "${name}"`, nearestName(name, Object.keys(filters)));
    return (s) =>
      filter(
        value(s),
        args.map((a) => a(s)),
      );
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
  #primary(): Expression {
    if (this.takes('(')) {
      const inner = this.expression();
      this.needs(')');
      return inner;
    }
    if (this.takes('[')) {
      const items = this.#list(']');
      return (s) => items.map((i) => i(s) ?? null);
    }
    const token = this.#tokens[this.#at++];
    if (token?.kind === 'string') return () => token.text;
    if (token?.kind === 'number') return () => token.value;
    if (token?.kind !== 'name') throw this.#fail('expected a value');
    const { text: name } = token;
    if (Object.hasOwn(CONSTANTS, name)) return () => CONSTANTS[name];
    if (name === 'range' && this.takes('(')) return this.#range();
    return (s) => (Object.hasOwn(s, name) ? s[name] : undefined);
  }
  #range(): Expression {
    const args = this.#list(')');
    return (s) => {
      const given = args.map((a) => number(a(s)));
      const [from, to] = given.length > 1 ? [given[0] as number, given[1] as number] : [0, given[0] ?? 0];
      if (!(to - from <= MAX_RANGE)) throw this.#fail(`range of more than ${MAX_RANGE}`);
      return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
    };
  }
  #fail(message: string, nearest: string | null = null): TemplateError {
    return new TemplateError(nearest ? `${message}; did you mean ${nearest}?` : message, this.line);
  }
}
