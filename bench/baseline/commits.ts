// Single-row commits like pgbench: `clients` connections, each with one insert per transaction, one at a time.
import pg from 'pg';
import { serveParent } from '../harness/child';

export interface CommitsQuestion {
  databaseUrl: string;
  clients: number;
  durationMs: number;
}

async function run({ databaseUrl, clients, durationMs }: CommitsQuestion): Promise<number> {
  const open = await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      return client;
    }),
  );
  await open[0]!.query(`create schema if not exists bench`);
  await open[0]!.query(
    `create table if not exists bench.commits (id bigserial primary key, state text not null, at timestamptz not null default now())`,
  );
  let commits = 0;
  const begin = performance.now();
  const insert = {
    name: 'insert',
    text: 'insert into bench.commits (state) values ($1)',
    values: ['succeeded'],
  };
  await Promise.all(
    open.map(async (client) => {
      while (performance.now() - begin < durationMs) {
        await client.query(insert);
        commits += 1;
      }
    }),
  );
  const perSecond = commits / ((performance.now() - begin) / 1000);
  await Promise.all(open.map((client) => client.end()));
  return perSecond;
}

serveParent<CommitsQuestion>(run);
