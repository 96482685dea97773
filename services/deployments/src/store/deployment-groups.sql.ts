import type { LabelPair, Principal, Visibility } from '@baton/contracts';
import { type AnyQuery, type AnyTx, visibilityScope } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { LabelOwner } from './labels.sql';
import { noteChanged } from './noted-deployments.sql';

export interface GroupRow {
  key: number;
  tenant: string;
  id: string;
  description: string | null;
  default_blueprint_id: string | null;
  default_inputs: Record<string, unknown> | null;
  creation_counter: number;
  visibility: Visibility;
  created_by: string;
}

const ROW = sql`g.key, g.tenant, g.id, g.description, g.default_blueprint_id, g.default_inputs, g.creation_counter, g.visibility, g.created_by`;

/** Returns the condition for rows of `deployment_groups g` that the caller may see. */
export function groupScope(principal: Principal, allTenants = false): RawBuilder<SqlBool> {
  return visibilityScope(principal, 'g', allTenants);
}

/** Returns a group that the caller may see; a group of the own tenant comes before a global one. */
export async function findGroup(
  db: AnyQuery | AnyTx,
  principal: Principal,
  id: string,
): Promise<GroupRow | null> {
  const { rows } = await sql<GroupRow>`
    select ${ROW} from deployment_groups g where g.id = ${id} and ${groupScope(principal)}
    order by g.tenant = ${principal.tenant} desc limit 1`.execute(db);
  return rows[0] ?? null;
}

/** Locks a group: the first lock of every transaction that changes a group. */
export async function lockGroup(tx: AnyTx, tenant: string, id: string): Promise<GroupRow | null> {
  const { rows } = await sql<GroupRow>`
    select ${ROW} from deployment_groups g where g.tenant = ${tenant} and g.id = ${id} for no key update`.execute(
    tx,
  );
  return rows[0] ?? null;
}

/** Creates the group unless the tenant has it; lock it afterwards. */
export async function insertGroup(
  tx: AnyTx,
  group: { tenant: string; id: string; visibility: Visibility; createdBy: string; createdAt: string | null },
): Promise<void> {
  await sql`insert into deployment_groups (tenant, id, visibility, created_by, created_at)
    values (${group.tenant}, ${group.id}, ${group.visibility}, ${group.createdBy}, coalesce(${group.createdAt}::timestamptz, app_now()))
    on conflict do nothing`.execute(tx);
}

export async function updateGroup(
  tx: AnyTx,
  key: number,
  change: Partial<
    Pick<
      GroupRow,
      'description' | 'default_blueprint_id' | 'default_inputs' | 'creation_counter' | 'visibility'
    >
  >,
): Promise<void> {
  const sets = Object.entries(change)
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) =>
      column === 'default_inputs'
        ? sql`default_inputs = ${JSON.stringify(value)}::json`
        : sql`${sql.id(column)} = ${value}`,
    );
  if (sets.length === 0) return;
  await sql`update deployment_groups set ${sql.join(sets)} where key = ${key}`.execute(tx);
}

export async function deleteGroup(tx: AnyTx, key: number): Promise<void> {
  await sql`delete from deployment_groups where key = ${key}`.execute(tx);
}

/** Returns the keys of the members, in the order of joining. */
export async function memberKeys(db: AnyQuery | AnyTx, groupKey: number): Promise<number[]> {
  const { rows } = await sql<{ key: number }>`
    select deployment_key as key from deployment_group_members where group_key = ${groupKey} order by seq`.execute(
    db,
  );
  return rows.map((row) => row.key);
}

/** Adds members; returns the keys of those that were no members before. */
export async function addMembers(tx: AnyTx, groupKey: number, keys: readonly number[]): Promise<number[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<{ key: number }>`
    insert into deployment_group_members (group_key, deployment_key)
    select ${groupKey}, d.key from unnest(${[...keys]}::bigint[]) with ordinality as d(key, n)
    order by d.n on conflict do nothing returning deployment_key as key`.execute(tx);
  const joined = rows.map((row) => row.key);
  noteChanged(tx, joined);
  return joined;
}

export async function removeMembers(tx: AnyTx, groupKey: number, keys: readonly number[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`delete from deployment_group_members where group_key = ${groupKey} and deployment_key = any(${[...keys]}::bigint[])`.execute(
    tx,
  );
  noteChanged(tx, keys);
}

/** Adds a member by names; does nothing when one of the two is gone. */
export async function addMemberById(
  tx: AnyTx,
  tenant: string,
  groupId: string,
  deploymentId: string,
): Promise<void> {
  await sql`insert into deployment_group_members (group_key, deployment_key)
    select g.key, d.key from deployment_groups g, deployments d
    where g.tenant = ${tenant} and g.id = ${groupId} and d.tenant = ${tenant} and d.id = ${deploymentId}
    on conflict do nothing`.execute(tx);
}

export async function readGroupLabels(db: AnyQuery | AnyTx, groupKey: number): Promise<LabelPair[]> {
  const { rows } = await sql<LabelPair>`
    select key, value from deployment_group_labels where group_key = ${groupKey} order by key, value`.execute(
    db,
  );
  return rows;
}

export async function changeGroupLabels(
  tx: AnyTx,
  groupKey: number,
  change: { added: readonly LabelPair[]; removed: readonly LabelPair[] },
  owner: LabelOwner,
): Promise<void> {
  const { added, removed } = change;
  if (removed.length > 0) {
    await sql`delete from deployment_group_labels gl
      using unnest(${removed.map((l) => l.key)}::text[], ${removed.map((l) => l.value)}::text[]) as l(key, value)
      where gl.group_key = ${groupKey} and gl.key = l.key and gl.value = l.value`.execute(tx);
  }
  if (added.length > 0) {
    await sql`insert into deployment_group_labels (group_key, key, value, created_by, creator_id)
      select ${groupKey}, l.key, l.value, ${owner.username}, ${owner.userId}
      from unnest(${added.map((l) => l.key)}::text[], ${added.map((l) => l.value)}::text[]) as l(key, value)
      on conflict do nothing`.execute(tx);
  }
}

/** Returns the hash of the request that was performed with this idempotency key; null when there was none. */
export async function readGroupRequest(
  db: AnyQuery | AnyTx,
  tenant: string,
  requestId: string,
): Promise<string | null> {
  const { rows } = await sql<{ payload_hash: string }>`
    select payload_hash from deployment_group_requests where tenant = ${tenant} and request_id = ${requestId}`.execute(
    db,
  );
  return rows[0]?.payload_hash ?? null;
}

/** Stores the hash of a request. @throws unique violation when a concurrent request with the same key was first. */
export async function insertGroupRequest(
  tx: AnyTx,
  tenant: string,
  requestId: string,
  payloadHash: string,
): Promise<void> {
  await sql`insert into deployment_group_requests (tenant, request_id, payload_hash) values (${tenant}, ${requestId}, ${payloadHash})`.execute(
    tx,
  );
}

/** Deletes at most `limit` requests older than `keepMs`; returns their number. */
export async function purgeGroupRequests(tx: AnyTx, keepMs: number, limit: number): Promise<number> {
  const { rows } = await sql`delete from deployment_group_requests where (tenant, request_id) in (
      select tenant, request_id from deployment_group_requests
      where created_at < app_now() - ${keepMs}::float8 * interval '1 millisecond' order by created_at limit ${limit})
    returning 1 as gone`.execute(tx);
  return rows.length;
}
