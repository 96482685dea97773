import type { UserAccessAnswer } from '@baton/contracts/http/user-access';
import { notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { AuthorizationAt } from '../adapters/authorization-cache';
import { bootstrapAdminId, permissionsOf } from '../domain/principal';
import { grantsOf } from '../providers/domain/provider';
import { findProvider } from '../store/identity-providers.sql';
import type { DB as Tables } from '../store/tables.gen';
import { type AccessRow, type GrantRow, readAccess } from '../store/user-access.sql';

interface Deps {
  db: Db<Tables>;
  authorizationAt: AuthorizationAt;
}

type Held = UserAccessAnswer['system_roles'][number];
type Source = Held['from'][number];
/** Returns the groups at the provider whose rules give the role. */
type GroupsThatGive = (grant: GrantRow) => string[];

/** Explains the roles of a user. @throws AppError not_found_error */
export async function userAccess({ db, authorizationAt }: Deps, username: string): Promise<UserAccessAnswer> {
  const row = await readAccess(db.query, username);
  if (!row) throw notFound('User', username);
  const authorization = await authorizationAt(row.revision);
  const groupsThatGive = await mappingOfUser(db, row);
  const system = row.grants.filter(({ tenant }) => tenant === null);
  const tenants = [...new Set(row.grants.flatMap(({ tenant }) => tenant ?? []))].sort();
  const seesAll = permissionsOf(
    authorization,
    system.map(({ role }) => role),
  ).has('all_tenants');
  return {
    username: row.username,
    kind: row.provider !== null ? 'provider' : row.is_service ? 'service_account' : 'local',
    provider: row.provider,
    subject: row.subject,
    provider_groups: [...row.provider_groups].sort(),
    active: row.active,
    system_roles: explain(system, groupsThatGive),
    tenants: tenants.map((name) => ({
      name,
      roles: explain(
        row.grants.filter(({ tenant }) => tenant === name),
        groupsThatGive,
      ),
    })),
    sees_all_tenants: seesAll || row.id === bootstrapAdminId,
  };
}

/** Each role once, with all its sources. */
function explain(grants: readonly GrantRow[], groupsThatGive: GroupsThatGive): Held[] {
  const roles = [...new Set(grants.map(({ role }) => role))].sort();
  return roles.map((role) => ({
    role,
    from: grants.filter((grant) => grant.role === role).map((grant) => sourceOf(grant, groupsThatGive)),
  }));
}

const sourceOf = (grant: GrantRow, groupsThatGive: GroupsThatGive): Source => ({
  kind: grant.kind,
  name: grant.name,
  groups: grant.kind === 'provider' ? groupsThatGive(grant) : [],
});

async function mappingOfUser(db: Db<Tables>, row: AccessRow): Promise<GroupsThatGive> {
  const provider = row.provider === null ? null : await findProvider(db.query, row.provider);
  if (!provider) return () => [];
  return ({ tenant, role }) =>
    row.provider_groups
      .filter((group) => {
        const given = grantsOf(provider.mapping, [group]);
        return tenant === null
          ? given.systemRoles.includes(role)
          : given.tenantRoles.some((one) => one.tenant === tenant && one.role === role);
      })
      .sort();
}
