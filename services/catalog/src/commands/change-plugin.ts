import {
  changedOwnership,
  type FindUser,
  isAdministrator,
  type Principal,
  requireOwnTenant,
  type Visibility,
  widensVisibility,
} from '@baton/contracts';
import {
  AppError,
  badParameter,
  isJsonObject,
  isUuid,
  type JsonObject,
  nearestName,
  notFound,
} from '@baton/kernel';
import type { Db, Tx } from '@baton/postgres';
import {
  deletePlugin,
  findPlugin,
  listPluginUsers,
  lockPackage,
  lockPlugin,
  type PluginHead,
  requestInstallation,
  rivalPackage,
  updatePlugin,
} from '../store/plugins.sql';
import type { DB } from '../store/tables.gen';

const whoOf = (principal: Principal) => ({ ...principal, isAdministrator: isAdministrator(principal) });

/** Returns the plugin as `principal` sees it. @throws AppError not_found_error */
export async function visiblePlugin(db: Db<DB>, principal: Principal, id: string): Promise<PluginHead> {
  const plugin = isUuid(id) ? await findPlugin(db.query, whoOf(principal), id) : null;
  if (plugin === null) throw notFound('Plugin', id);
  return plugin;
}

async function changeLocked(
  db: Db<DB>,
  principal: Principal,
  id: string,
  change: (tx: Tx<DB>, head: PluginHead) => Promise<void>,
): Promise<void> {
  const seen = await visiblePlugin(db, principal, id);
  requireOwnTenant(principal, seen.tenant, `plugin \`${id}\``);
  await db.tx(async (tx) => {
    await lockPackage(tx, seen.package_name, seen.archive_name);
    const head = await lockPlugin(tx, id);
    if (head === null) throw notFound('Plugin', id);
    await change(tx, head);
  });
}

export async function setPluginVisibility(
  db: Db<DB>,
  principal: Principal,
  id: string,
  wanted: Visibility,
): Promise<void> {
  await changeLocked(db, principal, id, async (tx, head) => {
    if (!widensVisibility(principal, head.visibility, wanted)) return;
    if (wanted === 'global' && (await rivalPackage(tx, head.tenant, head, true, id))) {
      throw new AppError(
        'conflict_error',
        `plugin archive \`${head.archive_name}\` exists in another tenant and cannot become global`,
      );
    }
    await updatePlugin(tx, id, { visibility: wanted });
  });
}

const PATCHABLE = ['labels', 'blueprint_labels', 'resource_tags'] as const;

/**
 * PATCH /plugins/{id}: changes the labels and tags that the plugin gives to blueprints and deployments that import it, and, for
 * restores, its creator. Keys that a plugin does not have are ignored; a body without any of its keys changes nothing.
 */
export async function patchPlugin(
  { db, findUser }: { db: Db<DB>; findUser: FindUser },
  principal: Principal,
  id: string,
  body: Record<string, unknown>,
): Promise<void> {
  const changes: Partial<Record<(typeof PATCHABLE)[number], JsonObject | null>> = {};
  for (const key of PATCHABLE) {
    const value = body[key];
    if (value === undefined) continue;
    if (value !== null && !isJsonObject(value))
      throw badParameter(key, `\`${key}\` must be an object`, { expected: '{<key>: {values: [text, ...]}}' });
    changes[key] = value;
  }
  const owner = await changedOwnership(principal, { creator: textOf('creator', body.creator) }, findUser);
  if (Object.keys({ ...changes, ...owner }).length === 0) return;
  await changeLocked(db, principal, id, (tx) => updatePlugin(tx, id, { ...changes, ...owner }));
}

function textOf(field: string, value: unknown): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
  throw badParameter(field, `${field} must be a text`, { expected: 'the name of a user' });
}

/** DELETE /plugins/{id}: refused while the plan of a blueprint names the package and its version, unless forced. */
export async function removePlugin(
  db: Db<DB>,
  principal: Principal,
  id: string,
  isForced: boolean,
): Promise<void> {
  await changeLocked(db, principal, id, async (tx, head) => {
    const users = isForced ? [] : await listPluginUsers(tx, head);
    if (users.length > 0) {
      throw new AppError(
        'plugin_in_use',
        `plugin \`${head.package_name}\` ${head.package_version ?? ''} is used by blueprints: ${users.join(', ')}`,
        {
          blueprints: users,
          expected: 'force=true',
        },
      );
    }
    await deletePlugin(tx, id);
  });
}

/** POST /plugins/{id}: the only action is install. @throws AppError unknown_action */
export async function actOnPlugin(
  db: Db<DB>,
  principal: Principal,
  id: string,
  body: { action: string; managers?: string[]; agents?: string[] },
): Promise<void> {
  if (body.action !== 'install') {
    throw new AppError('unknown_action', `plugins have no action ${JSON.stringify(body.action)}`, {
      field: 'action',
      expected: ['install'],
      nearest: nearestName(body.action, ['install']),
    });
  }
  const targets = [
    ...(body.managers ?? []).map((name) => ({ kind: 'manager' as const, name })),
    ...(body.agents ?? []).map((name) => ({ kind: 'agent' as const, name })),
  ];
  const seen = await visiblePlugin(db, principal, id);
  await db.tx((tx) => requestInstallation(tx, seen, targets));
}
