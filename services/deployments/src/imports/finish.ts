import type { ImportContext } from '@baton/import-part';
import { type AnyTx, onClient } from '@baton/postgres';
import { ownStatus } from '../domain/statuses';
import { refreshConsumers } from '../store/labels.sql';
import { lockGraph } from '../store/parents.sql';
import { refreshFamily } from '../store/statuses.sql';
import { newTargets } from './dependencies';
import { takenDeployments, writtenKeys } from './records';

/** Deployments that one statement handles. */
const AT_A_TIME = 1_000;
/** Names that a note lists. */
const NAMED = 10;

/**
 * Brings what depends on several records in line, once all of them are there: node types, hosts, parents, statuses and consumers. What
 * the archive says otherwise is noted.
 */
export async function finishDeployments(context: ImportContext): Promise<void> {
  const keys = writtenKeys(context);
  if (keys.length === 0) return;
  await onClient(context.client, async (tx) => {
    await lockGraph(tx, context.tenant);
    for (let at = 0; at < keys.length; at += AT_A_TIME) {
      const some = keys.slice(at, at + AT_A_TIME);
      await context.client.query(NODE_TYPES, [some]);
      await context.client.query(OWN_STATUS, [some, ownStatus(null, 'active'), ownStatus(null, 'inactive')]);
    }
    await repairHosts(context, keys);
    await noteLooseRelationships(context, keys);
    await makeParents(context, keys);
    await refreshAll(context, keys, tx);
  });
  await compareWithArchive(context, keys);
}

const NODE_TYPES = `update deployment_plans p set node_types = t.types from (
    select n.deployment_key, array_agg(distinct h.type order by h.type) as types
    from nodes n join documents x on x.digest = n.definition
      cross join lateral json_array_elements_text(x.body->'type_hierarchy') h (type)
    where n.deployment_key = any($1::bigint[]) group by 1) t
  where p.deployment_key = t.deployment_key`;

const OWN_STATUS = `update deployments d set installation_status = s.installation,
    own_status = case when s.installation = 'active' then $2 else $3 end,
    deployment_status = case when s.installation = 'active' then $2 else $3 end
  from (select k, case when exists (select 1 from node_instances i where i.deployment_key = k and i.state <> 'started')
      then 'inactive' else 'active' end as installation from unnest($1::bigint[]) k) s
  where d.key = s.k`;

/** A host is an instance of the same deployment that is its own host: so no chain of hosts has a cycle. */
async function repairHosts({ client, tenant, note }: ImportContext, keys: readonly number[]): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    `update node_instances i set host_id = null
     where i.deployment_key = any($1::bigint[]) and i.host_id is not null and i.host_id <> i.id
       and not exists (select 1 from node_instances h where h.tenant = i.tenant and h.id = i.host_id
         and h.deployment_key = i.deployment_key and h.host_id = h.id) returning i.id`,
    [keys],
  );
  if (rows.length > 0)
    note(
      `${tenant}: ${rows.length} node instances named a host that is none, and have no host now: ${listed(rows.map(({ id }) => id))}`,
    );
}

async function noteLooseRelationships(
  { client, tenant, note }: ImportContext,
  keys: readonly number[],
): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    `select distinct i.id from node_instances i cross join lateral json_array_elements(i.relationships) r
     where i.deployment_key = any($1::bigint[]) and not exists (
       select 1 from node_instances t where t.tenant = i.tenant and t.id = r->>'target_id' and t.deployment_key = i.deployment_key)
     order by i.id`,
    [keys],
  );
  if (rows.length > 0)
    note(
      `${tenant}: ${rows.length} node instances have relationships to instances that are not there: ${listed(rows.map(({ id }) => id))}`,
    );
}

/** Makes the edges that labels name; one to a deployment that is not there, or that closes a cycle, is left out and noted. */
async function makeParents({ client, tenant, note }: ImportContext, keys: readonly number[]): Promise<void> {
  const missing = await client.query<{ id: string; parent: string }>(
    `select d.id, l.value as parent from deployments d join deployment_labels l on l.deployment_key = d.key and l.key = 'csys-obj-parent'
     where d.key = any($1::bigint[]) and not exists (select 1 from deployments p where p.tenant = $2 and p.id = l.value)
     order by 1, 2`,
    [keys, tenant],
  );
  if (missing.rows.length > 0)
    note(
      `${tenant}: ${missing.rows.length} deployments name a parent that is not there: ${listed(missing.rows.map(({ id, parent }) => `${id} -> ${parent}`))}`,
    );
  await client.query(
    `insert into deployment_parents (child_key, parent_key)
     select c.key, p.key from deployment_labels l join deployments p on p.tenant = $2 and p.id = l.value
       join deployments c on c.key = l.deployment_key
     where l.key = 'csys-obj-parent' and c.tenant = $2 and (c.key = any($1::bigint[]) or p.key = any($1::bigint[]))
     on conflict do nothing`,
    [keys, tenant],
  );
  const cyclic = await client.query<{ id: string }>(
    `with recursive above(start, key) as (
       select child_key, parent_key from deployment_parents where child_key = any($1::bigint[])
       union select a.start, p.parent_key from above a join deployment_parents p on p.child_key = a.key),
     gone as (delete from deployment_parents e where e.child_key in (select start from above where start = key)
         and e.parent_key in (select start from above where start = key) returning e.child_key)
     select distinct d.id from gone g join deployments d on d.key = g.child_key order by 1`,
    [keys],
  );
  if (cyclic.rows.length > 0)
    note(
      `${tenant}: deployments are their own ancestors, and have no parents now: ${listed(cyclic.rows.map(({ id }) => id))}`,
    );
}

async function refreshAll(context: ImportContext, keys: readonly number[], tx: AnyTx): Promise<void> {
  const { rows } = await context.client.query<{ key: number }>(
    `select distinct k as key from unnest($1::bigint[]) k
     where exists (select 1 from deployment_parents p where p.parent_key = k or p.child_key = k)`,
    [keys],
  );
  const targets = [...newTargets(context).values()];
  const related = rows.map(({ key }) => key);
  for (let at = 0; at < related.length; at += AT_A_TIME)
    await refreshFamily(tx, related.slice(at, at + AT_A_TIME));
  const used = [...new Set([...keys, ...targets])];
  for (let at = 0; at < used.length; at += AT_A_TIME)
    await refreshConsumers(tx, used.slice(at, at + AT_A_TIME));
}

/**
 * The status of a deployment depends on its latest execution, which deployments hears of from executions, so only what does not is
 * compared.
 */
async function compareWithArchive(context: ImportContext, keys: readonly number[]): Promise<void> {
  const { rows } = await context.client.query<{
    id: string;
    installation: string;
    services: number;
    environments: number;
  }>(
    `select id, installation_status as installation, sub_services_count as services, sub_environments_count as environments
     from deployments where key = any($1::bigint[]) order by id`,
    [keys],
  );
  const taken = takenDeployments(context);
  const other = rows.filter(({ id, installation, services, environments }) => {
    const { archived } = taken.get(id)!;
    const isOtherStatus = archived.installation !== null && archived.installation !== installation;
    return isOtherStatus || archived.services !== services || archived.environments !== environments;
  });
  if (other.length > 0)
    context.note(
      `${context.tenant}: installation status or number of sub-deployments of ${other.length} deployments, computed anew, is not what the archive says: ${listed(other.map(({ id }) => id))}`,
    );
}

const listed = (names: readonly string[]): string =>
  names.slice(0, NAMED).join(', ') + (names.length > NAMED ? ', ...' : '');
