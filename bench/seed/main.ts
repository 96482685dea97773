// node --import tsx bench/seed/main.ts [--small] --database NAME: creates and keeps the database (it must not exist), for `npm
// run bench -- api --database NAME`.
import { parseArgs } from 'node:util';
import { withDatabase } from '@baton/testkit';
import pg from 'pg';
import { closeAll, serverUrl } from '../harness/manager';
import { seed } from './seed';
import { fullSizes, smallSizes } from './sizes';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { small: { type: 'boolean', default: false }, database: { type: 'string' } },
  });
  if (!values.database) throw new Error('--database NAME is needed');
  const client = new pg.Client({ connectionString: serverUrl() });
  await client.connect();
  await client.query(`create database "${values.database.replaceAll('"', '""')}"`);
  await client.end();
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  await seed(withDatabase(serverUrl(), values.database), values.small ? smallSizes : fullSizes, say);
}

main()
  .catch((error: Error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exitCode = 1;
  })
  .finally(closeAll);
