import { createHash } from 'node:crypto';
import {
  type LabelPair,
  labelError,
  type Ownership,
  ownershipOf,
  type Principal,
  parseLabels,
  requireOwnTenant,
  type Visibility,
  visibilityOfNew,
  widensVisibility,
} from '@baton/contracts';
import { AppError, isAppError, notFound } from '@baton/kernel';
import { type AnyTx, isUniqueViolation, outbox } from '@baton/postgres';
import type { ServiceDeps } from '../deps';
import {
  addMembers,
  findGroup,
  type GroupRow,
  insertGroup,
  insertGroupRequest,
  lockGroup,
  memberKeys,
  readGroupLabels,
  readGroupRequest,
  removeMembers,
  updateGroup,
} from '../store/deployment-groups.sql';
import { findBlueprint } from './check-deployment';
import { changeMemberLabels, replaceGroupLabels } from './group-labels';
import {
  type GroupDefaults,
  groupCreationMessages,
  type NewGroupDeployment,
  prepareNewDeployments,
} from './new-group-deployments';
import { type MemberSelection, selectMembers } from './select-members';
import { type DeploymentRows, storeDeployments, storeUntilFree } from './store-deployments';

/** Properties of the group itself; absent and null ones stay unchanged. */
export interface GroupProperties {
  description?: string | null;
  visibility?: Visibility | null;
  labels?: unknown;
  blueprint_id?: string | null;
  default_inputs?: Record<string, unknown> | null;
  creation_counter?: number | null;
  created_at?: string;
  created_by?: string;
}

/** A request on a group, PUT and PATCH alike. */
export interface GroupChange {
  id: string;
  /** Creates the group when there is none. */
  mayCreate: boolean;
  properties: GroupProperties;
  add: MemberSelection;
  remove: MemberSelection;
  newDeployments: readonly NewGroupDeployment[];
  /** Name of the request field that contains `newDeployments`. */
  newField: string;
  /** The members become exactly those of `add` and `newDeployments`. */
  isReplacing: boolean;
  /** Idempotency key. */
  requestId: string | null;
}

const MAX_TRIES = 5;

/**
 * Performs PUT and PATCH of a deployment group: properties, labels, members and new deployments in one transaction, so that a crash
 * leaves all of them or nothing. Plans are prepared before the transaction; when another request has raised the counter of
 * deployments meanwhile, they are prepared again with the new counts.
 * @throws AppError not_found_error, conflict_error, bad_parameters_error and the errors of creating a deployment.
 */
export async function changeGroup(
  deps: ServiceDeps,
  principal: Principal,
  change: GroupChange,
): Promise<void> {
  const hash = createHash('sha256')
    .update(JSON.stringify([change, principal.username]))
    .digest('hex');
  if (await isRepeated(deps, principal, change, hash)) return;
  const labels = await checkProperties(deps, principal, change);
  const owner = await ownershipOf(principal, change.properties, deps.identity.findUser);
  const hasRules = [change.add, change.remove].some((one) => one.filter_id || one.filter_rules);
  const scheduled = hasRules ? await deps.executions.scheduled(principal.tenant) : [];
  for (let attempt = 1; ; attempt++) {
    const group = await currentGroup(deps, principal, change);
    const defaults = await defaultsOf(deps, change, group, labels, principal);
    const { newDeployments, newField } = change;
    try {
      const rows = await prepareNewDeployments(deps, principal, defaults, newDeployments, newField);
      if (await store(deps, principal, { change, labels, owner, defaults, hash, scheduled }, rows)) return;
    } catch (error) {
      // An id with {count} may have been taken by a request that raised the counter meanwhile.
      const isStale =
        isAppError(error, 'conflict_error') && (await hasCounted(deps, principal, change, defaults));
      if (!isStale) throw error;
    }
    if (attempt >= MAX_TRIES)
      throw new AppError('conflict_error', `Deployment group \`${change.id}\` is being changed by others`);
  }
}

async function hasCounted(
  deps: ServiceDeps,
  principal: Principal,
  { id, properties }: GroupChange,
  { counter }: GroupDefaults,
): Promise<boolean> {
  const group = await findGroup(deps.db.query, principal, id);
  return (properties.creation_counter ?? group?.creation_counter ?? 0) !== counter;
}

async function isRepeated(
  deps: ServiceDeps,
  principal: Principal,
  { requestId }: GroupChange,
  hash: string,
): Promise<boolean> {
  if (requestId === null) return false;
  const earlier = await readGroupRequest(deps.db.query, principal.tenant, requestId);
  if (earlier === null || earlier === hash) return earlier !== null;
  throw new AppError('conflict_error', 'The idempotency key was used before with another request', {
    field: 'Idempotency-Key',
  });
}

/** Checks the properties; returns the new label set, null when none is given. @throws AppError */
async function checkProperties(
  deps: ServiceDeps,
  principal: Principal,
  { properties }: GroupChange,
): Promise<LabelPair[] | null> {
  // `private`: checks only that the blueprint exists; its visibility is checked for the deployments that are made from it.
  if (properties.blueprint_id) await findBlueprint(deps, principal, properties.blueprint_id, 'private');
  if (properties.labels === undefined || properties.labels === null) return null;
  const labels = parseLabels(properties.labels);
  if (!labels.ok) throw labelError(labels.error);
  return labels.value;
}

/**
 * Returns the group; null when it is to be created.
 * @throws AppError not_found_error, illegal_action_error for a group of another tenant.
 */
async function currentGroup(
  deps: ServiceDeps,
  principal: Principal,
  { id, mayCreate }: GroupChange,
): Promise<GroupRow | null> {
  const group = await findGroup(deps.db.query, principal, id);
  if (!group && !mayCreate) throw notFound('DeploymentGroup', id);
  if (group) requireOwnTenant(principal, group.tenant, `Deployment group \`${id}\``);
  return group;
}

async function defaultsOf(
  deps: ServiceDeps,
  { id, properties }: GroupChange,
  group: GroupRow | null,
  labels: LabelPair[] | null,
  principal: Principal,
): Promise<GroupDefaults> {
  const wanted = properties.visibility ?? undefined;
  const isWidened =
    group !== null && wanted !== undefined && widensVisibility(principal, group.visibility, wanted);
  return {
    id,
    blueprintId: properties.blueprint_id ?? group?.default_blueprint_id ?? null,
    inputs: properties.default_inputs ?? group?.default_inputs ?? {},
    labels: labels ?? (group ? await readGroupLabels(deps.db.query, group.key) : []),
    visibility: group
      ? isWidened
        ? wanted
        : group.visibility
      : visibilityOfNew(principal, wanted, undefined),
    counter: properties.creation_counter ?? group?.creation_counter ?? 0,
  };
}

interface Plan {
  change: GroupChange;
  labels: LabelPair[] | null;
  /** Owner of a group that the request creates. */
  owner: Ownership;
  defaults: GroupDefaults;
  hash: string;
  /** `tenant/id` of deployments with schedules, for filter rules about schedules. */
  scheduled: string[];
}

/** Stores the changes; returns false when another request has raised the counter since the plans were prepared. */
async function store(
  deps: ServiceDeps,
  principal: Principal,
  plan: Plan,
  rows: DeploymentRows[],
): Promise<boolean> {
  try {
    return await storeUntilFree(deps, rows, (tx, free) => storeInTx(tx, principal, plan, free));
  } catch (error) {
    // A concurrent request with the same idempotency key was first.
    if (isUniqueViolation(error, 'deployment_group_requests_pkey')) return true;
    throw error;
  }
}

async function storeInTx(
  tx: AnyTx,
  principal: Principal,
  plan: Plan,
  rows: DeploymentRows[],
): Promise<boolean> {
  const { change, labels, defaults, scheduled } = plan;
  const { tenant } = principal;
  const { createdAt, createdBy } = plan.owner;
  if (change.requestId !== null) await insertGroupRequest(tx, tenant, change.requestId, plan.hash);
  if (change.mayCreate)
    await insertGroup(tx, { tenant, id: change.id, visibility: defaults.visibility, createdBy, createdAt });
  const group = await lockGroup(tx, tenant, change.id);
  if (!group) throw notFound('DeploymentGroup', change.id);
  const counted = change.properties.creation_counter ?? group.creation_counter;
  if (rows.length > 0 && counted !== defaults.counter) return false;
  await writeProperties(tx, group, change.properties, defaults, counted + rows.length);
  const before = await memberKeys(tx, group.key);
  const named = await selectMembers(tx, principal, change.add, scheduled);
  const removed = change.isReplacing
    ? before.filter((key) => !named.includes(key))
    : await selectMembers(tx, principal, change.remove, scheduled);
  const joined = await addMembers(tx, group.key, named);
  // A deployment that is in both selections is removed.
  await removeMembers(tx, group.key, removed);
  if (labels) {
    const stayed = before.filter((key) => !removed.includes(key));
    await changeMemberLabels(
      tx,
      principal,
      tenant,
      stayed,
      await replaceGroupLabels(tx, principal, group, labels),
    );
  }
  await changeMemberLabels(tx, principal, tenant, joined, { added: [...defaults.labels], removed: [] });
  const keys = await storeDeployments(tx, rows);
  await addMembers(
    tx,
    group.key,
    rows.map((row) => keys.get(row.request.id)!),
  );
  await outbox.appendAll(tx, groupCreationMessages(defaults, rows));
  return true;
}

async function writeProperties(
  tx: AnyTx,
  group: GroupRow,
  properties: GroupProperties,
  defaults: GroupDefaults,
  counter: number,
): Promise<void> {
  await updateGroup(tx, group.key, {
    description: properties.description ?? undefined,
    default_blueprint_id: properties.blueprint_id ?? undefined,
    default_inputs: properties.default_inputs ?? undefined,
    visibility: defaults.visibility === group.visibility ? undefined : defaults.visibility,
    creation_counter: counter === group.creation_counter ? undefined : counter,
  });
}

/** Whether a PUT names all members. Rules alone and new deployments are added to the existing members, as in the original. */
export function replacesMembers({
  deployment_ids,
  filter_id,
  deployments_from_group,
}: MemberSelection): boolean {
  const groups = deployments_from_group ?? [];
  return (deployment_ids ?? filter_id ?? null) !== null || groups.length > 0;
}
