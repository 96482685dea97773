import {
  changedOwnership,
  deploymentUpdated,
  isAdministrator,
  isWider,
  type LabelPair,
  labelError,
  type Principal,
  parseLabels,
  requireOwnTenant,
  type Visibility,
  widensVisibility,
} from '@baton/contracts';
import { AppError, badParameter, notFound } from '@baton/kernel';
import { type AnyTx, outbox } from '@baton/postgres';
import type { ServiceDeps } from '../deps';
import {
  type DeploymentRow,
  findDeployment,
  isIdTakenElsewhere,
  lockDeployment,
  setOwnership,
  updateDeployment,
  setVisibility as writeVisibility,
} from '../store/deployments.sql';
import { addLabels, readLabels, removeLabels } from '../store/labels.sql';
import { keysOfIds, lockGraph } from '../store/parents.sql';
import { findSite } from '../store/sites.sql';
import { lockUpwards, refreshFamily } from '../store/statuses.sql';
import { checkDisplayName, refuseNarrowSite } from './check-deployment';
import { changeParents, isEnvironment, parentIds } from './parents';
import { requireResourceId } from './resource-id';

type Deps = Pick<ServiceDeps, 'db' | 'catalog' | 'identity'>;

/** Label that the manager computes: requests neither add nor remove it (reference/rest-api.md 4.2). */
export const COMPUTED_LABEL = 'csys-consumer-id';
const ATTRIBUTES = [
  'description',
  'workflows',
  'inputs',
  'outputs',
  'capabilities',
  'groups',
  'scaling_groups',
  'policy_types',
  'policy_triggers',
  'resource_tags',
  'runtime_only_evaluation',
];

/**
 * Returns the deployment of a command, locked.
 * @throws AppError not_found_error, illegal_action_error for a deployment of another tenant.
 */
async function ownDeployment(tx: AnyTx, principal: Principal, id: string): Promise<DeploymentRow> {
  const found = await findDeployment(tx, principal, id);
  if (found) requireOwnTenant(principal, found.tenant, `Deployment \`${id}\``);
  const row = found && (await lockDeployment(tx, found.key));
  if (!row) throw notFound('Deployment', id);
  return row;
}

/**
 * PATCH /deployments/{id} (reference/rest-api.md 5.2): labels are replaced as a set; labels in both sets keep their time. `creator`
 * and `created_at` are for restores.
 */
export async function changeDeployment(
  deps: Deps,
  principal: Principal,
  id: string,
  body: { labels?: unknown; display_name?: string } & Record<string, unknown>,
): Promise<void> {
  if (Object.keys(body).length === 0) {
    throw new AppError('illegal_action_error', 'The body names nothing to change', {
      expected: ['labels', 'display_name'],
    });
  }
  const labels = body.labels === undefined ? null : parseLabels(body.labels);
  if (labels && !labels.ok) throw labelError(labels.error);
  if (body.display_name !== undefined) checkDisplayName(body.display_name);
  const owner = await changedOwnership(principal, body, deps.identity.findUser);
  await deps.db.tx(async (tx) => {
    if (labels) await lockFamilies(tx, principal.tenant, [id, ...parentIds(labels.value)]);
    const row = await ownDeployment(tx, principal, id);
    refuseUpdateOnly(row, body);
    if (body.display_name !== undefined)
      await updateDeployment(tx, row.key, { display_name: body.display_name });
    if (Object.keys(owner).length > 0) await setOwnership(tx, row.key, owner);
    if (labels) await replaceLabels(tx, principal, row, labels.value);
    await tellSettings(tx, row);
  });
}

/** Tells other systems (webhooks) that a person changed a deployment. */
function tellSettings(tx: AnyTx, { tenant, id }: DeploymentRow): Promise<void> {
  return outbox.append(tx, deploymentUpdated, { tenant, key: id }, { deploymentId: id, change: 'settings' });
}

/** Locks the families, because labels may move a deployment between parents: the graph first, then all ancestors in key order. */
async function lockFamilies(tx: AnyTx, tenant: string, ids: readonly string[]): Promise<void> {
  await lockGraph(tx, tenant);
  await lockUpwards(tx, [...(await keysOfIds(tx, tenant, ids)).values()]);
}

/** Refuses changes of the structure: only the execution of an update makes them. */
function refuseUpdateOnly(row: DeploymentRow, body: Record<string, unknown>): void {
  if (body.blueprint_id !== undefined) {
    throw new AppError(
      'only_deployment_update',
      'The blueprint of a deployment is changed only by a deployment update',
      { field: 'blueprint_id' },
    );
  }
  const attribute = ATTRIBUTES.find((name) => body[name] !== undefined);
  if (attribute === undefined) return;
  throw new AppError('conflict_error', `Attribute ${attribute} of deployment \`${row.id}\` is already set`, {
    field: attribute,
  });
}

/** Replaces the labels of a locked deployment by `wanted`; the families above must be locked. */
export async function replaceLabels(
  tx: AnyTx,
  principal: Principal,
  row: DeploymentRow,
  wanted: readonly LabelPair[],
): Promise<void> {
  const before = (await readLabels(tx, row.key)).filter((label) => label.key !== COMPUTED_LABEL);
  const same = (a: LabelPair, b: LabelPair): boolean => a.key === b.key && a.value === b.value;
  await removeLabels(
    tx,
    row.key,
    before.filter((label) => !wanted.some((w) => same(label, w))),
  );
  await addLabels(tx, row.tenant, row.key, wanted, {
    username: principal.username,
    userId: principal.userId,
  });
  const wasEnvironment = isEnvironment(before);
  const parentsChanged = parentIds(before).sort().join('\n') !== parentIds(wanted).sort().join('\n');
  await updateDeployment(tx, row.key, { is_environment: isEnvironment(wanted) });
  if (parentsChanged) await changeParents(tx, row, parentIds(wanted));
  else if (wasEnvironment !== isEnvironment(wanted)) await refreshFamily(tx, [row.key]);
}

/** PATCH set-visibility: never wider than the blueprint or site (reference/rest-api.md 4.4). */
export async function setVisibility(
  deps: Deps,
  principal: Principal,
  id: string,
  wanted: Visibility,
): Promise<void> {
  const seen = await findDeployment(deps.db.query, principal, id);
  if (!seen) throw notFound('Deployment', id);
  if (!widensVisibility(principal, seen.visibility, wanted)) return;
  await refuseWiderThanBlueprint(deps, principal, seen, wanted);
  await deps.db.tx(async (tx) => {
    const row = await ownDeployment(tx, principal, id);
    if (!widensVisibility(principal, row.visibility, wanted)) return;
    if (wanted === 'global' && (await isIdTakenElsewhere(tx, row.tenant, id, true))) {
      throw new AppError(
        'conflict_error',
        `Deployment \`${id}\` exists in another tenant, so it cannot become global`,
        { field: 'visibility' },
      );
    }
    await writeVisibility(tx, row.key, wanted);
    await tellSettings(tx, row);
  });
}

async function refuseWiderThanBlueprint(
  deps: Deps,
  principal: Principal,
  row: DeploymentRow,
  wanted: Visibility,
): Promise<void> {
  const caller = { username: principal.username, isAdministrator: isAdministrator(principal) };
  const blueprint =
    row.blueprint_id === null ? null : await deps.catalog.blueprint(row.tenant, row.blueprint_id, caller);
  if (!blueprint || !isWider(wanted, blueprint.visibility)) return;
  throw new AppError(
    'illegal_action_error',
    `Deployment \`${row.id}\` cannot be wider (${wanted}) than its blueprint \`${blueprint.id}\` (${blueprint.visibility})`,
    {
      field: 'visibility',
      expected: `at most ${blueprint.visibility}`,
    },
  );
}

/** POST set-site: exactly one of site_name and detach_site. */
export async function setSite(
  deps: Deps,
  principal: Principal,
  id: string,
  body: { site_name?: string | null; detach_site?: boolean | null },
): Promise<void> {
  const name = body.site_name ?? null;
  if ((name === null) !== (body.detach_site === true)) {
    throw badParameter('site_name', 'Exactly one of site_name and detach_site is needed', {
      expected: 'site_name, or detach_site true',
    });
  }
  if (name !== null) requireResourceId('site name', name, 'site_name');
  await deps.db.tx(async (tx) => {
    const row = await ownDeployment(tx, principal, id);
    const site = name === null ? null : await findSite(tx, principal, name);
    if (name !== null && !site) throw notFound('Site', name);
    if (site) refuseNarrowSite(site, row.visibility);
    await updateDeployment(tx, row.key, { site_key: site?.key ?? null });
    await tellSettings(tx, row);
  });
}
