import {
  ownershipOf,
  type Principal,
  requireOwnTenant,
  type Visibility,
  visibilityOfNew,
  widensVisibility,
} from '@baton/contracts';
import { AppError, notFound } from '@baton/kernel';
import { type Db, isUniqueViolation } from '@baton/postgres';
import type { IdentityPort } from '../adapters/identity.client';
import { parseLocation } from '../domain/site-location';
import {
  findSite,
  insertSite,
  isSiteNameTakenElsewhere,
  lockSite,
  deleteSite as removeSite,
  type SiteRow,
  updateSite as writeSite,
} from '../store/sites.sql';
import type { DB } from '../store/tables.gen';
import { requireResourceId } from './resource-id';

interface Deps {
  db: Db<DB>;
  identity: IdentityPort;
}

/** PUT /sites/{name} (reference/rest-api.md 5.24). @throws AppError conflict_error when the name is taken. */
export async function createSite(
  deps: Deps,
  principal: Principal,
  name: string,
  body: {
    location?: string | null;
    visibility?: Visibility;
    private_resource?: boolean;
    created_at?: string;
    created_by?: string;
  },
): Promise<void> {
  requireResourceId('site name', name);
  const visibility = visibilityOfNew(principal, body.visibility, body.private_resource);
  const location = parseLocation(body.location);
  const owner = await ownershipOf(principal, body, deps.identity.findUser);
  await deps.db
    .tx(async (tx) => {
      if (await isSiteNameTakenElsewhere(tx, principal.tenant, name, visibility === 'global'))
        throw taken(name);
      await insertSite(tx, {
        tenant: principal.tenant,
        name,
        location,
        visibility,
        createdBy: owner.createdBy,
        createdAt: owner.createdAt,
      });
    })
    .catch(refuseDouble(name));
}

/** POST /sites/{name}: an empty location clears it. */
export async function updateSite(
  deps: Deps,
  principal: Principal,
  name: string,
  body: { new_name?: string; location?: string | null; visibility?: Visibility },
): Promise<string> {
  if (body.new_name !== undefined) requireResourceId('new_name', body.new_name);
  const location =
    body.location === undefined || body.location === null ? undefined : parseLocation(body.location);
  const newName = body.new_name ?? name;
  await deps.db
    .tx(async (tx) => {
      const site = await ownSite(principal, name, tx);
      const visibility =
        body.visibility !== undefined && widensVisibility(principal, site.visibility, body.visibility)
          ? body.visibility
          : undefined;
      const isRenamed = newName !== name;
      if (
        (isRenamed || visibility === 'global') &&
        (await isSiteNameTakenElsewhere(
          tx,
          site.tenant,
          newName,
          (visibility ?? site.visibility) === 'global',
        ))
      ) {
        throw taken(newName);
      }
      await writeSite(tx, site.key, { name: isRenamed ? newName : undefined, location, visibility });
    })
    .catch(refuseDouble(newName));
  return newName;
}

/** DELETE /sites/{name}: its deployments stay, without a site. */
export async function deleteSite(deps: Deps, principal: Principal, name: string): Promise<void> {
  await deps.db.tx(async (tx) => removeSite(tx, (await ownSite(principal, name, tx)).key));
}

async function ownSite(
  principal: Principal,
  name: string,
  tx: Parameters<typeof lockSite>[0],
): Promise<SiteRow> {
  const found = await findSite(tx, principal, name);
  if (found) requireOwnTenant(principal, found.tenant, `Site \`${name}\``);
  const site = found && (await lockSite(tx, found.key));
  if (!site) throw notFound('Site', name);
  return site;
}

function taken(name: string): AppError {
  return new AppError('conflict_error', `Site with name \`${name}\` already exists`, { field: 'name' });
}

function refuseDouble(name: string): (error: unknown) => never {
  return (error) => {
    throw isUniqueViolation(error) ? taken(name) : error;
  };
}
