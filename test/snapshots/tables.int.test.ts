/** Compares the declared exceptions of snapshots with the migrations: a new table is exported automatically. */
import { join } from 'node:path';
import { silentLog } from '@baton/kernel';
import { createDb } from '@baton/postgres';
import { type SnapshotTables, snapshotTablesFault } from '@baton/snapshot-part';
import { testDatabase } from '@baton/testkit';
import { snapshotTables as catalog } from '../../services/catalog/src/store/snapshot-tables';
import { snapshotTables as clusterStatus } from '../../services/cluster-status/src/store/snapshot-tables';
import { snapshotTables as deployments } from '../../services/deployments/src/store/snapshot-tables';
import { snapshotTables as executions } from '../../services/executions/src/store/snapshot-tables';
import { snapshotTables as identity } from '../../services/identity/src/store/snapshot-tables';
import { snapshotTables as secrets } from '../../services/secrets/src/store/snapshot-tables';

const declared: Record<string, SnapshotTables> = {
  catalog,
  'cluster-status': clusterStatus,
  deployments,
  executions,
  identity,
  secrets,
};
/**
 * Words in names of tables that contain work in progress rather than state: the author of such a table must decide whether to
 * export it.
 */
const DOUBTFUL = /lease|queue|cache|lock|guard|batch|job|staging|(?<!ac)count|audit/;

describe.each(Object.entries(declared))('tables of %s', (service, tables) => {
  it('fit the declaration, and none looks as if it were no state', async () => {
    const schema = service.replaceAll('-', '_');
    const dir = join(__dirname, '../../services', service, 'migrations');
    const database = await testDatabase({ migrations: [{ schema, dir }] });
    const db = createDb({ url: database.url, schema, applicationName: 'snapshot-tables', log: silentLog });
    const client = await db.pool.connect();
    try {
      expect(await snapshotTablesFault(client, schema, tables)).toBeNull();
      const { rows } = await client.query(
        `select table_name as name from information_schema.tables where table_schema = $1`,
        [schema],
      );
      const decided = { ...tables.kept, ...tables.cleared };
      expect(
        rows.map(({ name }) => name).filter((name) => DOUBTFUL.test(name) && !(name in decided)),
      ).toEqual([]);
    } finally {
      client.release();
      await db.close();
      await database.drop();
    }
  });
});
