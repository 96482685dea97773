import type { PluginSelection, Principal, Visibility } from '@baton/contracts';
import type { AnyQuery, AnyTx } from '@baton/postgres';
import { sql } from 'kysely';
import { deploymentScope } from './deployments.sql';
import { noteOwned, type OwnedDeployment } from './noted-deployments.sql';

export type PluginsUpdateState =
  | 'updating'
  | 'executing_workflow'
  | 'finalizing'
  | 'successful'
  | 'failed'
  | 'no_changes_required';

/** A deployment of the update; in state `waiting` its update has not begun. */
export interface UpdatedDeployment {
  tenant: string;
  id: string;
  state: 'waiting' | 'updating' | 'successful' | 'failed';
  /** Identifies its deployment update; stored before that is created. */
  request_id: string | null;
  /** ISO instant of its beginning. */
  since: string | null;
}

export interface PluginsUpdateRow {
  id: string;
  tenant: string;
  blueprint_id: string;
  temp_blueprint_id: string;
  state: PluginsUpdateState;
  execution_id: string | null;
  visibility: Visibility;
  created_by: string;
  is_administrator: boolean;
  forced: boolean;
  all_tenants: boolean;
  selection: PluginSelection;
  auto_correct_types: boolean;
  deployments: UpdatedDeployment[];
  outcome: { status: 'terminated' | 'failed' | 'cancelled'; error: string } | null;
  /** Holder of the lease; each lease has a token of its own. */
  lease_owner: string | null;
}

const ROW = sql`id, tenant, blueprint_id, temp_blueprint_id, state, execution_id, visibility, created_by, is_administrator,
  forced, all_tenants, selection, auto_correct_types, deployments, outcome, lease_owner`;
const OPEN = sql`state in ('updating', 'executing_workflow', 'finalizing')`;

export interface DeploymentPlugins {
  tenant: string;
  id: string;
  plugins: string[];
}

/** Allows one request at a time on a blueprint: the lock is held until the end of the transaction. */
export async function lockUpdatesOf(tx: AnyTx, tenant: string, blueprintId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`plugins-update ${tenant} ${blueprintId}`}, 0))`.execute(
    tx,
  );
}

/** Returns the id of an update of the blueprint that has not ended. */
export async function openUpdateOf(tx: AnyTx, tenant: string, blueprintId: string): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select id from plugins_updates where tenant = ${tenant} and blueprint_id = ${blueprintId} and ${OPEN} limit 1`.execute(
    tx,
  );
  return rows[0]?.id ?? null;
}

/** Stores a new update, leased to `owner` for `leaseMs`. */
export async function insertPluginsUpdate(
  tx: AnyTx,
  u: Omit<PluginsUpdateRow, 'state' | 'execution_id' | 'deployments' | 'outcome' | 'lease_owner'>,
  owner: string,
  leaseMs: number,
): Promise<void> {
  await sql`
    insert into plugins_updates (id, tenant, blueprint_id, temp_blueprint_id, visibility, created_by, is_administrator, forced,
      all_tenants, selection, auto_correct_types, lease_owner, lease_until)
    values (${u.id}, ${u.tenant}, ${u.blueprint_id}, ${u.temp_blueprint_id}, ${u.visibility}, ${u.created_by},
      ${u.is_administrator}, ${u.forced}, ${u.all_tenants}, ${JSON.stringify(u.selection)}::json, ${u.auto_correct_types},
      ${owner}, app_now() + ${leaseMs}::float8 * interval '1 millisecond')`.execute(tx);
}

/** Leases the oldest open update without a lease to `owner` for `leaseMs`. */
export async function leasePluginsUpdate(
  db: AnyQuery,
  owner: string,
  leaseMs: number,
): Promise<PluginsUpdateRow | null> {
  const { rows } = await sql<PluginsUpdateRow>`
    update plugins_updates set lease_owner = ${owner}, lease_until = app_now() + ${leaseMs}::float8 * interval '1 millisecond'
    where id = (select id from plugins_updates where ${OPEN} and (lease_until is null or lease_until < app_now())
      order by lease_until nulls first, created_at limit 1 for update skip locked)
    returning ${ROW}`.execute(db);
  return rows[0] ?? null;
}

/** Renews a lease; returns false when another owner has it. */
export async function renewPluginsUpdate(
  db: AnyQuery,
  id: string,
  owner: string,
  leaseMs: number,
): Promise<boolean> {
  const done =
    await sql`update plugins_updates set lease_until = app_now() + ${leaseMs}::float8 * interval '1 millisecond'
    where id = ${id} and lease_owner = ${owner}`.execute(db);
  return done.numAffectedRows === 1n;
}

/** Releases the lease; the update may be leased again after `pauseMs`. */
export async function releasePluginsUpdate(
  db: AnyQuery,
  id: string,
  owner: string,
  pauseMs: number,
): Promise<void> {
  await sql`update plugins_updates set lease_owner = null, lease_until = app_now() + ${pauseMs}::float8 * interval '1 millisecond'
    where id = ${id} and lease_owner = ${owner}`.execute(db);
}

export async function readPluginsUpdate(db: AnyQuery, id: string): Promise<PluginsUpdateRow | null> {
  const { rows } = await sql<PluginsUpdateRow>`
    select ${ROW} from plugins_updates where id = ${id}`.execute(db);
  return rows[0] ?? null;
}

/** Writes the given columns while `owner` has the lease, and renews it; returns false when another owner has it. */
export async function writePluginsUpdate(
  tx: AnyTx | AnyQuery,
  of: { id: string; owner: string; leaseMs: number },
  change: Partial<Pick<PluginsUpdateRow, 'state' | 'execution_id' | 'deployments' | 'outcome'>>,
): Promise<boolean> {
  const sets = Object.entries(change).map(([column, value]) =>
    typeof value === 'string'
      ? sql`${sql.id(column)} = ${value}`
      : sql`${sql.id(column)} = ${JSON.stringify(value)}::json`,
  );
  const done = await sql`
    update plugins_updates set ${sql.join([...sets, sql`lease_until = app_now() + ${of.leaseMs}::float8 * interval '1 millisecond'`])}
    where id = ${of.id} and lease_owner = ${of.owner}`.execute(tx);
  return done.numAffectedRows === 1n;
}

/** Returns the tenants with deployments of a blueprint; call it outside of a request. */
export async function tenantsOfBlueprint(db: AnyQuery, blueprintId: string): Promise<string[]> {
  const { rows } = await sql<{ tenant: string }>`
    select distinct tenant from deployments where blueprint_id = ${blueprintId} order by 1`.execute(db);
  return rows.map((row) => row.tenant);
}

/**
 * Returns the deployments of a blueprint in a tenant that the caller may see, with the plugins of their nodes as `package version`.
 */
export async function deploymentsWithPlugins(
  db: AnyQuery,
  principal: Principal,
  of: { blueprintId: string; tenant: string },
): Promise<DeploymentPlugins[]> {
  const { rows } = await sql<DeploymentPlugins>`
    select d.tenant, d.id, array(
      select distinct (p ->> 'package_name') || ' ' || coalesce(p ->> 'package_version', '')
      from nodes n join documents doc on doc.digest = n.definition cross join lateral json_array_elements(doc.body -> 'plugins') p
      where n.deployment_key = d.key and p ->> 'package_name' is not null order by 1) as plugins
    from deployments d
    where d.blueprint_id = ${of.blueprintId} and d.tenant = ${of.tenant} and ${deploymentScope(principal)}
    order by d.created_at, d.key`.execute(db);
  return rows;
}

/** Moves deployments from one blueprint to another without any other change; returns their number. */
export async function switchBlueprint(
  tx: AnyTx,
  tenants: readonly string[],
  from: string,
  to: string,
): Promise<number> {
  const { rows } = await sql<OwnedDeployment>`
    update deployments set blueprint_id = ${to}, revision = revision + 1, updated_at = app_now()
    where tenant = any(${[...tenants]}::text[]) and blueprint_id = ${from}
    returning tenant, id, created_by, visibility`.execute(tx);
  noteOwned(tx, 'changed', rows);
  return rows.length;
}

export async function isBlueprintUsed(
  db: AnyQuery,
  tenants: readonly string[],
  id: string,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from deployments where tenant = any(${[...tenants]}::text[]) and blueprint_id = ${id} limit 1`.execute(
    db,
  );
  return rows.length > 0;
}
