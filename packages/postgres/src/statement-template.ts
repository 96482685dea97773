import { hash } from 'node:crypto';
import type { RawBuilder } from 'kysely';
import type { PreparedStatement } from './hot-query';
import type { AnyQuery } from './transaction-scope';

/** Placeholder of a value that is known only when the statement runs. */
export class Slot {
  constructor(readonly name: string) {}
}

export interface StatementTemplate {
  statement: PreparedStatement;
  /** Returns the values of the statement; every slot must have one in `given`. */
  values(given: Readonly<Record<string, unknown>>): unknown[];
}

/**
 * Compiles a statement that is built once and run often: neither its text nor its plan is made again (see `prepared`). Its text
 * must not depend on values; values that change belong into slots. Use a bounded number of texts: every connection keeps them all.
 */
export function compileTemplate(db: AnyQuery, query: RawBuilder<unknown>): StatementTemplate {
  const { sql: text, parameters } = query.compile(db);
  return {
    statement: { name: `t-${hash('sha1', text)}`, text },
    values: (given) =>
      parameters.map((one) => {
        if (!(one instanceof Slot)) return one;
        const value = given[one.name];
        if (value === undefined) throw new Error(`no value for ${one.name}`);
        return value;
      }),
  };
}
