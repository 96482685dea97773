// The least that answers the same question: node:http, pg, the same SELECT, JSON of its rows. No auth, no checks.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { serveParent } from '../harness/child';

export interface Statement {
  text: string;
  values: unknown[];
}

export interface BareQuestion {
  databaseUrl: string;
  schema: string;
  connections: number;
  /** By the first segment of the path; of `single` the first value is the id, taken from the second segment. */
  statements: Record<string, Statement>;
}

let pool: pg.Pool;

async function listen(question: BareQuestion): Promise<number> {
  pool = new pg.Pool({
    connectionString: question.databaseUrl,
    max: question.connections,
    options: `-c search_path="${question.schema}",baton -c timezone=UTC`,
  });
  const answer = async (url: string): Promise<unknown> => {
    const [, name = '', id] = url.split('/');
    const { text, values } = question.statements[name]!;
    const { rows } = await pool.query(text, id === undefined ? values : [id, ...values.slice(1)]);
    return id === undefined ? { items: rows } : (rows[0] ?? null);
  };
  const server = createServer((request, response) => {
    answer(request.url ?? '/').then(
      (body) => write(response, body === null ? 404 : 200, body),
      (error: Error) => write(response, 500, { message: error.message }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
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
