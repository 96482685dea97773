// The minimal program that answers the same requests: node:http, pg, the same statements in the same way, rows as JSON. No
// authentication, no checks.
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { serveParent } from '../harness/child';
import type { SentStatement } from '../harness/watched-sql';

export interface BareShape {
  /** Units run one after another; statements of a unit with a `begin` use one connection. */
  units: SentStatement[][];
  /** The text in the values that is replaced by the second segment of the path. */
  sample: string;
}

export interface BareQuestion {
  databaseUrl: string;
  schema: string;
  connections: number;
  /** Shapes by the first segment of the path. */
  shapes: Record<string, BareShape>;
}

type Values = unknown[];

let pool: pg.Pool;
let hasFailed = false;

async function listen(question: BareQuestion): Promise<number> {
  pool = new pg.Pool({
    connectionString: question.databaseUrl,
    max: question.connections,
    options: `-c search_path="${question.schema}",executions,baton -c timezone=UTC`,
  });
  const server = createServer((request, response) => {
    const [, name = '', argument = ''] = (request.url ?? '/').split('/');
    const shape = question.shapes[name]!;
    rowsOf(shape, argument).then(
      (rows) => write(response, 200, shape.units.length === 1 && rows.length === 1 ? rows[0] : rows),
      (error: Error) => {
        if (!hasFailed) process.stderr.write(`bare server: ${error.message}\n`);
        hasFailed = true;
        write(response, 500, { message: error.message });
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function rowsOf({ units, sample }: BareShape, argument: string): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (const unit of units) {
    const [first] = unit;
    if (unit.length === 1) {
      rows.push(...(await pool.query(statement(first!, sample, argument))).rows);
      continue;
    }
    const client = await pool.connect();
    try {
      for (const one of unit) rows.push(...(await client.query(statement(one, sample, argument))).rows);
      client.release();
    } catch (error) {
      client.release(true);
      throw error;
    }
  }
  return rows;
}

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi;

function statement({ name, text, values }: SentStatement, sample: string, argument: string): pg.QueryConfig {
  let own = sample === '' ? values : (replaced(values, sample, argument) as Values);
  // A row that is inserted again needs a new id.
  if (/insert into/i.test(text)) own = own.map(withNewIds);
  return name === undefined ? { text, values: own } : { name, text, values: own };
}

function withNewIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNewIds);
  return typeof value === 'string' ? value.replace(UUID, () => randomUUID()) : value;
}

function replaced(value: unknown, sample: string, argument: string): unknown {
  if (typeof value === 'string') return value.replaceAll(sample, argument);
  return Array.isArray(value) ? value.map((one) => replaced(one, sample, argument)) : value;
}

function write(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

serveParent<BareQuestion>(listen, async () => await pool?.end());
