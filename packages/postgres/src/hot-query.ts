import type pg from 'pg';
import { prepareValue } from 'pg/lib/utils.js';
import { columnTypes } from './column-types';

/** SQL with `$1` parameters that each connection parses once. The name must be unique per text. */
export interface PreparedStatement {
  name: string;
  text: string;
}

/** The methods of a driver connection that a custom query needs (the driver's `Submittable`). */
interface Connection {
  stream: { cork(): void; uncork(): void };
  parsedStatements: Record<string, string | undefined>;
  submittedNamedStatements: Record<string, string | undefined>;
  parse(statement: { name: string; text: string }): void;
  bind(values: { portal: string; statement: string; values: unknown[] }): void;
  describe(of: { type: 'P'; name: string }): void;
  execute(of: { portal: string }): void;
  sync(): void;
  sendCopyFail(reason: string): void;
}

interface Field {
  name: string;
  dataTypeID: number;
}

/** Column names and parsers of a statement. */
interface Shape {
  names: string[];
  parsers: ((text: string) => unknown)[];
}

/** Columns of each statement, described once per connection: PostgreSQL refuses a prepared statement whose columns change. */
const shapes = new WeakMap<Connection, Map<string, Shape>>();

/**
 * Runs a prepared statement in the driver's own protocol. It leaves out the parts that the driver's general query makes for each
 * run: a description of the columns by the server, an index of them here, an event for each row (3 % of the CPU of an engine,
 * bench/BENCHMARKS.md).
 */
class HotQuery {
  readonly name: string;
  readonly text: string;
  callback: ((error: Error | null, rows?: object[]) => void) | undefined;
  private readonly values: unknown[];
  private readonly rows: object[] = [];
  private shape: Shape | undefined;
  private failure: Error | undefined;

  constructor({ name, text }: PreparedStatement, values: readonly unknown[]) {
    this.name = name;
    this.text = text;
    this.values = values.map((value) => prepareValue(value));
  }

  submit(connection: Connection): Error | null {
    const { name, text } = this;
    const known = connection.parsedStatements[name] ?? connection.submittedNamedStatements[name];
    if (known !== undefined && known !== text)
      return new Error(`two statements have the name ${name}: each text needs its own`);
    this.shape = shapesOf(connection).get(name);
    connection.stream.cork();
    try {
      if (known === undefined) {
        connection.parse({ name, text });
        connection.submittedNamedStatements[name] = text;
      }
      connection.bind({ portal: '', statement: name, values: this.values });
      if (!this.shape) connection.describe({ type: 'P', name: '' });
      connection.execute({ portal: '' });
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
    return null;
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.shape = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => columnTypes.getTypeParser(dataTypeID, 'text')),
    };
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const { names, parsers } = this.shape!;
    const row: Record<string, unknown> = {};
    try {
      for (let i = 0; i < fields.length; i++) {
        const text = fields[i]!;
        row[names[i]!] = text === null ? null : parsers[i]!(text);
      }
    } catch (error) {
      this.failure ??= error as Error;
    }
    this.rows.push(row);
  }

  handleCommandComplete(_done: unknown, connection: Connection): void {
    // A statement without columns has no description.
    shapesOf(connection).set(this.name, this.shape ?? { names: [], parsers: [] });
  }

  handleReadyForQuery(): void {
    if (this.failure) this.callback?.(this.failure);
    else this.callback?.(null, this.rows);
  }

  handleError(error: Error): void {
    this.callback?.(error);
  }

  handleEmptyQuery(): void {}

  handlePortalSuspended(): void {}

  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail('a prepared statement brings no data');
  }
}

function shapesOf(connection: Connection): Map<string, Shape> {
  const known = shapes.get(connection);
  if (known) return known;
  const fresh = new Map<string, Shape>();
  shapes.set(connection, fresh);
  return fresh;
}

/**
 * Returns the rows of a prepared statement that runs on a connection, or on one of a pool. @throws Error of the driver, not yet
 * translated
 */
export function runHot(
  on: pg.Pool | pg.PoolClient,
  statement: PreparedStatement,
  values: readonly unknown[],
): Promise<object[]> {
  return new Promise((resolve, reject) => {
    const query = new HotQuery(statement, values);
    const done = (error: Error | null, rows?: object[]): void => (error ? reject(error) : resolve(rows!));
    (on as unknown as Queryable).query(query, done);
  });
}

/** The driver accepts a custom query with a callback; its types do not declare this. */
interface Queryable {
  query(query: HotQuery, done: NonNullable<HotQuery['callback']>): void;
}
