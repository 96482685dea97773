import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type Client, createClient } from '@baton/client';
import { archiveOf, call, upload } from '../../harness/session';
import { ask } from '../ask';
import { diagnose } from '../diagnosis';
import type { Rig } from '../rig';
import type { Outcome, Row, RowContext } from '../row';
import { pause, until } from '../until';

/** Rows of the tenant: more than a single removal step deletes. */
const LEFT_ROWS = 30_000;
const PARTS = ['executions', 'deployments', 'catalog', 'secrets', 'cluster-status'];
/**
 * Time limit from the last repair: the lease of the dead process, a tick of the loop, the removal, and a later tick for late
 * rows.
 */
const CLEAR_MS = 60_000;

export const tenantRows: Row[] = [
  {
    id: 'F1t',
    title: 'identity and services are killed while a tenant is removed and what it left is cleared',
    pass: `the tenant goes; ${CLEAR_MS / 1000} s later nothing of it is in any table; a new one of that name starts empty`,
    limitS: 180,
    run: removal,
  },
];

async function removal({ rig, random, isSuite }: RowContext): Promise<Outcome> {
  const outcome: Outcome = { violations: [], facts: {} };
  const tenant = `gone-${randomUUID().slice(0, 8)}`;
  await ask(rig.client, 'createTenant', { params: { name: tenant }, isDone: ['conflict_error'] });
  const own = createClient({
    baseUrl: rig.fleet.baseUrl,
    username: 'admin',
    password: rig.fleet.adminPassword,
    tenant,
  });
  await leaveThings(rig, own, tenant);
  const left = await rowsOf(rig, tenant);
  // Removes the tenant while the service that carries out the removal is killed.
  const gone = ask(rig.client, 'deleteTenant', { params: { name: tenant }, isDone: ['not_found_error'] });
  gone.catch(() => undefined);
  await pause(random.below(60));
  await rig.kill('identity');
  await rig.heal();
  await gone;
  let kills = 1;
  let inTheMiddle = 0;
  for (let i = 0; i < (isSuite ? 2 : 3); i++) {
    const victims = random.pick([['identity'], ['identity', random.pick(PARTS)], [random.pick(PARTS)]]);
    if ((await rowsOf(rig, tenant)) > 0) inTheMiddle++;
    await Promise.all(victims.map((name) => rig.kill(name)));
    kills++;
    await pause(random.below(1_500));
    await rig.heal();
    await pause(random.below(500));
  }
  const since = performance.now();
  await until('nothing of the removed tenant in any table', CLEAR_MS, async () => {
    const rows = await rowsOf(rig, tenant);
    if (rows > 0) throw new Error(`${rows} rows left: ${(await tablesOf(rig, tenant)).join(', ')}`);
    return true;
  }).catch(async (error: Error) => {
    outcome.violations.push(`G2: ${error.message}`);
    outcome.diagnosis = [...(await former(rig)), ...(await diagnose(rig))];
  });
  const clearedS = ((performance.now() - since) / 1000).toFixed(1);
  if (inTheMiddle === 0) outcome.violations.push('floor: all was cleared before anything was killed');
  await ask(rig.client, 'createTenant', { params: { name: tenant }, isDone: ['conflict_error'] });
  const again = await call(own, 'listExecutions', {});
  if (again.metadata.pagination.total !== 0)
    outcome.violations.push(
      `G9: a new tenant of that name shows ${again.metadata.pagination.total} executions`,
    );
  outcome.facts = { kills, 'in the middle of it': inTheMiddle, left, 'cleared after': `${clearedS} s` };
  return outcome;
}

/** Creates, runs and deletes a deployment. Its executions and events remain, and so do many copies of such rows. */
async function leaveThings(rig: Rig, own: Client, tenant: string): Promise<void> {
  await upload(own, 'once', archiveOf(join(__dirname, '..', 'blueprints', 'once')));
  await call(own, 'createDeployment', { id: 'last' }, { blueprint_id: 'once', inputs: {} });
  const { id } = await call(own, 'startExecution', {}, { deployment_id: 'last', workflow_id: 'install' });
  await until('the end of the last execution of the tenant', 30_000, async () => {
    const { status } = await call(own, 'getExecution', { executionId: id });
    return status === 'terminated';
  });
  await call(own, 'deleteDeployment', { id: 'last' }, undefined, { force: true });
  await until('the end of the deployment', 30_000, async () => {
    const { items } = await call(own, 'listDeployments', {});
    return items.length === 0;
  });
  await call(own, 'deleteBlueprint', { blueprint_id: 'once' });
  await rig.sql(
    `insert into executions.events (execution_id, seq, tenant, visibility, created_by, is_log, message, reported_at, created_at)
     select $2::uuid, 100000 + n, $1, 'private', 'admin', true, 'left behind', now(), now() from generate_series(1, ${LEFT_ROWS}) n`,
    [tenant, id],
  );
}

/** Returns the number of rows with this tenant for each table of a service. */
async function countsOf({ sql }: Rig, tenant: string): Promise<{ name: string; n: number }[]> {
  const tables = await sql<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant' and not a.attisdropped
     where c.relkind in ('r', 'p') and not c.relispartition and n.nspname = any($1)`,
    [['executions', 'deployments', 'catalog', 'secrets', 'cluster_status', 'identity']],
  );
  return await sql<{ name: string; n: number }>(
    tables
      .map(({ name }) => `select '${name}' as name, count(*)::int as n from ${name} where tenant = $1`)
      .join(' union all '),
    [tenant],
  );
}

const rowsOf = async (rig: Rig, tenant: string): Promise<number> =>
  (await countsOf(rig, tenant)).reduce((sum, { n }) => sum + n, 0);

const tablesOf = async (rig: Rig, tenant: string): Promise<string[]> =>
  (await countsOf(rig, tenant)).filter(({ n }) => n > 0).map(({ name, n }) => `${name} ${n}`);

async function former({ sql }: Rig): Promise<string[]> {
  const rows = await sql<{ text: string }>(
    `select concat_ws(' ', name, 'removed', removed_at, 'next look', clear_after, 'cleared', cleared_at) as text
     from identity.former_tenants`,
  );
  return ['removed tenants:', ...rows.map((row) => `  ${row.text}`)];
}
