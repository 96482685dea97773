// Every list of the API needs as many SQL statements for a page of many rows as for a page of one. Needs the bundles of `npm run
// build`.
import type { RouteContract } from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import { type RequestSql, requestSql } from '../../bench/harness/request-sql';
import { type SqlWatch, watchSql } from '../../bench/harness/watched-sql';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Caller, callerOf } from '../security/caller';
import { ASKED, FEW, fill } from './filled-manager';

/** Read from memory: they never change while the manager runs. */
const IN_MEMORY = new Set(['/permissions', '/permissions/:role_name']);
let watch: SqlWatch;
let fleet: Fleet;
let caller: Caller;
let sql: RequestSql;
beforeAll(async () => {
  watch = watchSql('all');
  // The long cache prevents repeated look-ups of the caller, which are not part of the list.
  fleet = await startFleet({
    mode: 'standalone',
    env: { ...watch.env, BATON_CREDENTIAL_CACHE_MS: '60000' },
  });
  caller = callerOf(fleet);
  await fill(caller);
  const pid = fleet.processes.get('standalone')!.pid()!;
  sql = await requestSql(
    watch,
    [pid],
    ['identity', 'catalog', 'deployments', 'executions', 'secrets', 'cluster_status'],
  );
}, 180_000);
afterAll(async () => {
  await fleet?.stop();
  watch?.close();
}, 60_000);

const lists = allRoutes.filter(
  ({ list, method, versions, path }) =>
    list && method === 'GET' && versions.includes('v3.1') && !FEW.has(path),
);

/** Returns the statements of the list's own service for a page of at most `size`, and the number of returned rows. */
async function cost(
  { path, owner }: RouteContract,
  size: number,
): Promise<{ texts: string[]; rows: number }> {
  let rows = 0;
  const units = await sql.of(async () => {
    const { items } = await caller.must(caller.admin, 'GET', `${ASKED[path] ?? `${path}?`}_size=${size}`);
    rows = items.length;
  });
  const schema = owner.replaceAll('-', '_');
  const texts = units
    .flat()
    .filter((one) => one.schema === schema && !/^\s*(re)?set /i.test(one.text))
    .map((one) => one.text);
  return { texts, rows };
}

test.each(lists.map((list) => [list.path, list] as const))(
  '%s',
  async (_path, list) => {
    const one = await cost(list, 1);
    const many = await cost(list, 500);
    expect(many.rows).toBeGreaterThan(one.rows);
    expect(many.texts).toEqual(one.texts.map(() => expect.any(String)));
    if (!IN_MEMORY.has(list.path)) expect(many.texts.length).toBeGreaterThan(0);
  },
  30_000,
);
