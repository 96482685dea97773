import { type Db, privateCreatorText } from '@baton/postgres';
import { heldForEver, type TableCheck } from '@baton/snapshot-part';
import { sql } from 'kysely';
import type { DB } from './tables.gen';

/** Computes the contents of `row_counts` by counting. */
const THERE = `select 'deployments' as kind, tenant, visibility, ${privateCreatorText({ otherwise: "''" })} as creator,
    count(*) as there from deployments group by 1, 2, 3, 4
  union all select 'node_instances', tenant, visibility, ${privateCreatorText({ creator: "coalesce(private_to, '')", otherwise: "''" })},
    count(*) from node_instances group by 1, 2, 3, 4
  union all select 'nodes', d.tenant, d.visibility, ${privateCreatorText({ table: 'd', otherwise: "''" })},
    count(*) from nodes n join deployments d on d.key = n.deployment_key group by 1, 2, 3, 4`;

/** A dependency without deployment, function and other manager on one side: it has no effect, and nobody can see what it means. */
const LEADS_NOWHERE = `target_key is null and target_deployment_func is null and external_target is null
  or source_key is null and external_source is null`;

const ENDED = `('terminated', 'failed', 'cancelled')`;

/** The doctor's checks of the tables of deployments. */
export const doctorChecks = (db: Db<DB>): TableCheck[] => [
  {
    name: 'total-wrong',
    repair: 'deployments, nodes and node instances of the tenant are counted',
    find: `select tenant as id, string_agg('lists of ' || kind || ' say ' || coalesce(told, 0) || ', there are ' || coalesce(there, 0), '; ') as about
      from (${THERE}) t full join (select kind, tenant, visibility, creator, sum(total) as told from row_counts group by 1, 2, 3, 4) c
        using (kind, tenant, visibility, creator)
      where coalesce(told, 0) <> coalesce(there, 0) group by tenant`,
    mend: (tenant) => recount(db, tenant),
  },
  {
    name: 'dependency-orphaned',
    repair: 'the dependency is deleted',
    find: `select id, 'dependency ' || dependency_creator || ' in ' || tenant || ' names no '
        || case when source_key is null and external_source is null then 'source' else 'target' end as about
      from inter_deployment_dependencies where ${LEADS_NOWHERE}`,
    mend: `delete from inter_deployment_dependencies where id = $1::uuid and (${LEADS_NOWHERE})`,
  },
  {
    name: 'update-stuck',
    repair: 'the update has failed',
    find: `select u.id, 'update of ' || d.id || ' goes on, its execution is ' || d.latest_status as about
      from deployment_updates u join deployments d on d.key = u.deployment_key
      where u.state = 'updating' and d.latest_execution = u.execution_id and d.latest_status in ${ENDED}
        and d.latest_at < app_now() - interval '60 seconds'`,
    mend: `update deployment_updates u set state = 'failed' from deployments d where u.id = $1 and d.key = u.deployment_key
      and u.state = 'updating' and d.latest_execution = u.execution_id and d.latest_status in ${ENDED}`,
  },
  heldForEver({
    name: 'plugins-update-held',
    table: 'plugins_updates',
    key: 'id',
    what: 'a plugins update',
    open: `state in ('updating', 'executing_workflow', 'finalizing')`,
  }),
];

/** Counts the rows of a tenant again; the lock keeps writers away meanwhile. */
async function recount(db: Db<DB>, tenant: string): Promise<void> {
  await db.tx(async (tx) => {
    await sql`lock table deployments, nodes, node_instances in share row exclusive mode`.execute(tx);
    await sql`delete from row_counts where tenant = ${tenant}`.execute(tx);
    await sql`insert into row_counts (kind, tenant, visibility, creator, total)
      select kind, tenant, visibility, creator, there from (${sql.raw(THERE)}) t where tenant = ${tenant}`.execute(
      tx,
    );
  });
}
