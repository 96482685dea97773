import type { Tx } from '@baton/postgres';
import { type Kysely, sql } from 'kysely';
import { model } from './model';
import type { DB as Tables } from './tables.gen';

type Reader = Kysely<Tables> | Tx<Tables>;

export async function findTenant(db: Reader, name: string): Promise<{ name: string } | undefined> {
  const found = await model.over(db, (p) => p.tenant.findUnique({ select: { name: true }, where: { name } }));
  return found ?? undefined;
}

export async function allTenantNames(db: Reader): Promise<string[]> {
  return (await model.over(db, (p) => p.tenant.findMany({ select: { name: true } }))).map(({ name }) => name);
}

/** Inserts a tenant; returns false when it existed already. */
export async function insertTenant(tx: Tx<Tables>, name: string): Promise<boolean> {
  const { count } = await model.over(tx, (p) =>
    p.tenant.createMany({ data: { name }, skipDuplicates: true }),
  );
  return count > 0;
}

/** Locks the tenant row and counts the users and groups of the tenant; null when there is no such tenant. */
export async function lockTenant(
  tx: Tx<Tables>,
  name: string,
): Promise<{ users: number; groups: number } | null> {
  const locked = await tx
    .selectFrom('tenants')
    .select('name')
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst();
  if (!locked) return null;
  const { rows } = await sql<{ users: number; groups: number }>`
    select (select count(*) from tenant_users where tenant = ${name}) as users,
      (select count(*) from tenant_groups where tenant = ${name}) as groups`.execute(tx);
  return rows[0]!;
}

export async function setTenantClosing(tx: Tx<Tables>, name: string, isClosing: boolean): Promise<void> {
  await tx
    .updateTable('tenants')
    .set({ closing_since: isClosing ? sql<string>`app_now()` : null })
    .where('name', '=', name)
    .execute();
}

/** Returns the tenants whose removal was begun over `olderThanMs` ago and never ended. */
export async function abandonedTenants(db: Reader, olderThanMs: number): Promise<string[]> {
  const rows = await db
    .selectFrom('tenants')
    .select('name')
    .where('closing_since', '<', sql<string>`app_now() - ${olderThanMs}::float8 * interval '1 millisecond'`)
    .execute();
  return rows.map((row) => row.name);
}

/** Deletes the tenant; its name stays stored: see migrations/0003_former_tenants.sql. */
export async function deleteTenant(tx: Tx<Tables>, name: string): Promise<void> {
  await model.over(tx, async (p) => {
    await p.tenant.deleteMany({ where: { name } });
    await p.formerTenant.createMany({ data: { name }, skipDuplicates: true });
  });
}

/** Takes a lease of `leaseMs` on a removed tenant whose leftovers are due to be looked for; `goneMs`: time since its removal. */
export async function takeFormerTenant(
  db: Reader,
  leaseMs: number,
): Promise<{ name: string; goneMs: number } | null> {
  const { rows } = await sql<{ name: string; goneMs: number }>`
    update former_tenants set clear_after = app_now() + ${leaseMs}::float8 * interval '1 millisecond'
    where name = (select name from former_tenants where cleared_at is null and clear_after <= app_now()
      order by clear_after limit 1 for update skip locked)
    returning name, (extract(epoch from app_now() - removed_at) * 1000)::float8 as "goneMs"`.execute(db);
  return rows[0] ?? null;
}

/** Renews the lease on a removed tenant; returns false when the tenant exists again or is fully cleared. */
export async function renewFormerTenant(db: Reader, name: string, leaseMs: number): Promise<boolean> {
  const done =
    await sql`update former_tenants set clear_after = app_now() + ${leaseMs}::float8 * interval '1 millisecond'
    where name = ${name} and cleared_at is null`.execute(db);
  return done.numAffectedRows === 1n;
}

/** Stores the result of a look at a removed tenant. `againMs`: wait until the next look; null: nothing is left of it. */
export async function noteCleared(db: Reader, name: string, againMs: number | null): Promise<void> {
  const change =
    againMs === null
      ? sql`cleared_at = app_now()`
      : sql`clear_after = app_now() + ${againMs}::float8 * interval '1 millisecond'`;
  await sql`update former_tenants set ${change} where name = ${name}`.execute(db);
}

export async function isFormerTenant(db: Reader, name: string): Promise<boolean> {
  const where = { name };
  const found = await model.over(db, (p) => p.formerTenant.findUnique({ select: { name: true }, where }));
  return found !== null;
}

export async function forgetFormerTenant(tx: Tx<Tables>, name: string): Promise<void> {
  await model.over(tx, (p) => p.formerTenant.deleteMany({ where: { name } }));
}

/** A user or a group that belongs to tenants. */
export type MemberKey = { user_id: number } | { group_name: string };

/** Inserts a member; returns false when the user or group belongs to the tenant already. */
export async function insertMember(
  tx: Tx<Tables>,
  tenant: string,
  who: MemberKey,
  role: string,
): Promise<boolean> {
  const { count } = await model.over(tx, (p) =>
    'user_id' in who
      ? p.tenantUser.createMany({ data: { tenant, role, ...who }, skipDuplicates: true })
      : p.tenantGroup.createMany({ data: { tenant, role, ...who }, skipDuplicates: true }),
  );
  return count > 0;
}

/** Updates a member's role; returns false when the user or group does not belong to the tenant. */
export async function updateMember(
  tx: Tx<Tables>,
  tenant: string,
  who: MemberKey,
  role: string,
): Promise<boolean> {
  const { count } = await model.over(tx, (p) =>
    'user_id' in who
      ? p.tenantUser.updateMany({ where: { tenant, ...who }, data: { role } })
      : p.tenantGroup.updateMany({ where: { tenant, ...who }, data: { role } }),
  );
  return count > 0;
}

/** Deletes a member; returns false when the user or group does not belong to the tenant. */
export async function deleteMember(tx: Tx<Tables>, tenant: string, who: MemberKey): Promise<boolean> {
  const { count } = await model.over(tx, (p) =>
    'user_id' in who
      ? p.tenantUser.deleteMany({ where: { tenant, ...who } })
      : p.tenantGroup.deleteMany({ where: { tenant, ...who } }),
  );
  return count > 0;
}
