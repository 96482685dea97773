/**
 * The blueprint's part of a plugins update (reference/rest-api.md 5.18): makes a hidden copy with other plugins, then switches to
 * it.
 */
import type { PluginSelection } from '@baton/contracts';
import { AppError, newId, notFound } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import { chooseVersions, pluginsInUse } from '../domain/plugin-versions';
import { failureError, UploadFailure } from '../domain/upload-failure';
import { insertUses, lockBlueprint, lockBlueprintId } from '../store/blueprints.sql';
import { listPluginsNamed } from '../store/plugins.sql';
import {
  adoptPlan,
  findUpdatable,
  insertCopy,
  readUses,
  showCopy,
  type UpdatableBlueprint,
} from '../store/plugins-update.sql';
import type { DB } from '../store/tables.gen';
import { dropBlueprint } from './drop-blueprint';
import { type Importer, type PrepareDeps, type Prepared, parseStored } from './prepare-blueprint';

export interface PluginsUpdate {
  blueprintId: string;
  tempBlueprintId: string;
  selection: PluginSelection;
  importer: Importer;
}

/**
 * Makes the copy unless no plugin changes; returns false in that case. A crash leaves nothing or the copy, and a repeated call
 * finds the copy.
 * @throws AppError not_found_error, bad_parameters_error for versions and names, invalid_blueprint_error when the plan does not
 * parse with the new plugins.
 */
export async function preparePluginsUpdate(deps: PrepareDeps, update: PluginsUpdate): Promise<boolean> {
  const { tenant } = update.importer;
  const blueprint = await findUpdatable(deps.db.query, tenant, update.blueprintId);
  if (!blueprint) throw notFound('Blueprint', update.blueprintId);
  if (await findUpdatable(deps.db.query, tenant, update.tempBlueprintId)) return true;
  const uses = await readUses(deps.db.query, tenant, update.blueprintId);
  const current = pluginsInUse(uses);
  const installed = new Map<string, string[]>();
  for (const name of current.keys()) {
    const plugins = await listPluginsNamed(deps.db.query, update.importer, name);
    installed.set(name, plugins.map((plugin) => plugin.package_version ?? '').filter(Boolean));
  }
  const versions = chooseVersions(current, installed, update.selection);
  if (isSame(current, versions)) return false;
  const prepared = await parseWith(deps, blueprint, { ...update.importer, versions });
  if (isSame(current, pluginsInUse(prepared.uses))) return false;
  await deps.db.tx(async (tx) => {
    await lockBlueprintId(tx, update.tempBlueprintId);
    const isMade = await insertCopy(
      tx,
      tenant,
      update,
      { uploadId: newId(), executionId: newId() },
      prepared,
    );
    if (isMade) await insertUses(tx, tenant, update.tempBlueprintId, prepared.uses);
  });
  return true;
}

const isSame = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean =>
  a.size === b.size && [...a].every(([name, version]) => b.get(name) === version);

async function parseWith(
  deps: PrepareDeps,
  blueprint: UpdatableBlueprint,
  importer: Importer,
): Promise<Prepared> {
  const stored = { digest: blueprint.archive_digest, size: blueprint.archive_size };
  try {
    return await parseStored(deps, stored, blueprint.main_file_name, importer);
  } catch (error) {
    throw error instanceof UploadFailure ? failureError(error) : error;
  }
}

/** Gives the blueprint the plan and uses of the copy. @throws AppError not_found_error when it was deleted meanwhile. */
export async function adoptPluginsUpdate(
  deps: Pick<PrepareDeps, 'db'>,
  tenant: string,
  blueprintId: string,
  tempBlueprintId: string,
): Promise<void> {
  await deps.db.tx(async (tx) => {
    if (!(await lockCopy(tx, tenant, tempBlueprintId))) return;
    await lockBlueprintId(tx, blueprintId);
    if (!(await adoptPlan(tx, tenant, blueprintId, tempBlueprintId)))
      throw notFound('Blueprint', blueprintId);
  });
}

/** Deletes the copy; with `isKept` deployments still use the copy, and it becomes an ordinary blueprint. */
export async function dropPluginsUpdate(
  deps: Pick<PrepareDeps, 'db'>,
  tenant: string,
  tempBlueprintId: string,
  isKept: boolean,
): Promise<void> {
  await deps.db.tx(async (tx) => {
    if (!(await lockCopy(tx, tenant, tempBlueprintId))) return;
    if (isKept) await showCopy(tx, tenant, tempBlueprintId);
    else await dropBlueprint(tx, tenant, tempBlueprintId);
  });
}

async function lockCopy(tx: Tx<DB>, tenant: string, id: string): Promise<boolean> {
  await lockBlueprintId(tx, id);
  const copy = await lockBlueprint(tx, tenant, id);
  if (copy !== null && copy.state !== 'uploaded')
    throw new AppError('conflict_error', `Blueprint \`${id}\` is no copy of a plugins update`, { id });
  return copy !== null;
}
