/** Changes of an existing blueprint: labels, description, visibility, icon, deletion. */
import {
  changedOwnership,
  type FindUser,
  labelError,
  type Principal,
  parseLabels,
  requireOwnTenant,
  type Visibility,
  widensVisibility,
} from '@baton/contracts';
import { AppError, badParameter, nearestName, notFound } from '@baton/kernel';
import type { Db, Tx } from '@baton/postgres';
import { hasFailed, uploadMachine } from '../domain/upload.machine';
import { getBlueprint } from '../queries/read-blueprints';
import {
  type BlueprintHead,
  findRivals,
  listImporters,
  lockBlueprint,
  lockBlueprintId,
  replaceLabels,
  touch,
} from '../store/blueprints.sql';
import type { DB } from '../store/tables.gen';
import { dropBlueprint } from './drop-blueprint';

export interface ChangeDeps {
  db: Db<DB>;
  findUser: FindUser;
  /** Returns ids of the deployments of a blueprint, at most `limit`. */
  listDeployments: (tenant: string, blueprintId: string, limit: number) => Promise<string[]>;
}

/** Returns the blueprint as `principal` sees it; it must belong to the tenant of the request. */
async function ownBlueprint(deps: ChangeDeps, principal: Principal, id: string): Promise<{ tenant: string }> {
  const row = await getBlueprint(deps.db.query, principal, id, ['tenant_name']);
  requireOwnTenant(principal, String(row.tenant_name), `blueprint \`${id}\``);
  return { tenant: String(row.tenant_name) };
}

async function changeLocked(
  deps: ChangeDeps,
  principal: Principal,
  id: string,
  change: (tx: Tx<DB>, head: BlueprintHead) => Promise<void>,
): Promise<void> {
  const { tenant } = await ownBlueprint(deps, principal, id);
  await deps.db.tx(async (tx) => {
    await lockBlueprintId(tx, id);
    const head = await lockBlueprint(tx, tenant, id);
    if (head === null) throw notFound('Blueprint', id);
    await change(tx, head);
  });
}

const PATCHABLE = ['labels', 'description', 'visibility', 'creator', 'created_at'];

function checkPatch(body: Record<string, unknown>): void {
  const keys = Object.keys(body);
  if (keys.length === 0)
    throw new AppError('illegal_action_error', 'The body changes nothing', { expected: PATCHABLE });
  const unknown = keys.find((key) => !PATCHABLE.includes(key));
  if (unknown === undefined) return;
  throw badParameter(unknown, `\`${unknown}\` of a blueprint cannot be changed`, {
    expected: PATCHABLE,
    nearest: nearestName(unknown, PATCHABLE),
  });
}

/** PATCH /blueprints/{id}: replaces labels or description, or widens the visibility; restores also set creator and created_at. */
export async function patchBlueprint(
  deps: ChangeDeps,
  principal: Principal,
  id: string,
  body: Record<string, unknown>,
): Promise<void> {
  checkPatch(body);
  const labels = body.labels === undefined ? null : parseLabels(body.labels);
  if (labels !== null && !labels.ok) throw labelError(labels.error);
  const { description, visibility } = body;
  for (const field of ['description', 'creator', 'created_at']) {
    const value = body[field] ?? '';
    if (typeof value !== 'string') throw badParameter(field, `${field} must be a text`, { expected: 'text' });
  }
  if (visibility !== undefined && !['private', 'tenant', 'global'].includes(String(visibility))) {
    throw badParameter('visibility', `visibility ${JSON.stringify(visibility)} is unknown`, {
      expected: ['private', 'tenant', 'global'],
    });
  }
  const owner = await changedOwnership(principal, body, deps.findUser);
  await changeLocked(deps, principal, id, async (tx, head) => {
    if (labels !== null) {
      if (head.state !== 'uploaded')
        throw new AppError('conflict_error', `Labels need an uploaded blueprint; this one is ${head.state}`, {
          state: head.state,
        });
      await replaceLabels(tx, head.tenant, id, labels.value, principal);
    }
    if (visibility !== undefined) await widen(tx, principal, head, visibility as Visibility);
    await touch(tx, head.tenant, id, {
      ...(description === undefined ? {} : { description: description as string | null }),
      ...owner,
    });
  });
}

async function widen(
  tx: Tx<DB>,
  principal: Principal,
  head: BlueprintHead,
  wanted: Visibility,
): Promise<void> {
  if (!widensVisibility(principal, head.visibility, wanted)) return;
  if (
    wanted === 'global' &&
    (await findRivals(tx, head.tenant, head.id, true)).some((r) => r.tenant !== head.tenant)
  ) {
    throw new AppError(
      'conflict_error',
      `blueprint \`${head.id}\` exists in another tenant and cannot become global`,
      { id: head.id },
    );
  }
  await touch(tx, head.tenant, head.id, { visibility: wanted });
}

export async function setBlueprintVisibility(
  deps: ChangeDeps,
  principal: Principal,
  id: string,
  wanted: Visibility,
): Promise<void> {
  await changeLocked(deps, principal, id, (tx, head) => widen(tx, principal, head, wanted));
}

/** Stores the icon; null removes it. */
export async function setBlueprintIcon(
  deps: ChangeDeps,
  principal: Principal,
  id: string,
  icon: Buffer | null,
): Promise<void> {
  await changeLocked(deps, principal, id, (tx, head) => touch(tx, head.tenant, id, { icon }));
}

function refuse(head: BlueprintHead, isForced: boolean, importers: string[], deployments: string[]): void {
  if (hasFailed(head.state)) return;
  if (!uploadMachine.isTerminal(head.state) && !isForced) {
    throw new AppError(
      'invalid_blueprint_error',
      `blueprint \`${head.id}\` is still being uploaded (${head.state})`,
      { state: head.state, expected: 'force=true' },
    );
  }
  if (importers.length > 0 && !isForced) {
    throw new AppError(
      'blueprint_in_use',
      `blueprint \`${head.id}\` is imported by: ${importers.join(', ')}`,
      { blueprints: importers, expected: 'force=true' },
    );
  }
  if (deployments.length > 0) {
    throw new AppError(
      'dependent_exists_error',
      `blueprint \`${head.id}\` has deployments: ${deployments.join(', ')}`,
      { deployments },
    );
  }
}

const SHOWN = 20;

/**
 * DELETE /blueprints/{id} (reference/rest-api.md 5.1). A failed blueprint can always be deleted. `force` also deletes one with a
 * running upload or with importers, but never one with deployments. The sweep removes its archive and blobs.
 */
export async function removeBlueprint(
  deps: ChangeDeps,
  principal: Principal,
  id: string,
  isForced: boolean,
): Promise<void> {
  const { tenant } = await ownBlueprint(deps, principal, id);
  const state = (await getBlueprint(deps.db.query, principal, id, ['state'])).state;
  // Asked before the transaction: a deployment created in between keeps its own copy of the plan.
  const deployments = state === 'uploaded' ? await deps.listDeployments(tenant, id, SHOWN) : [];
  await deps.db.tx(async (tx) => {
    await lockBlueprintId(tx, id);
    const head = await lockBlueprint(tx, tenant, id);
    if (head === null) throw notFound('Blueprint', id);
    refuse(head, isForced, await listImporters(tx, tenant, id, head.visibility === 'global'), deployments);
    await dropBlueprint(tx, tenant, id);
  });
}
