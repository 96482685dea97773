import { hasPermission, type Principal } from '@baton/contracts';
import { isJsonObject, isoInstant, type JsonObject, newId, systemClock } from '@baton/kernel';
import { outsideRequests } from '@baton/postgres';
import type { ServiceDeps } from '../deps';
import { principalOf } from '../queries/group-members';
import { updateProgress } from '../store/deployment-updates.sql';
import { readDeployment } from '../store/deployments.sql';
import {
  type DeploymentPlugins,
  deploymentsWithPlugins,
  isBlueprintUsed,
  type PluginsUpdateRow,
  switchBlueprint,
  tenantsOfBlueprint,
  type UpdatedDeployment,
  writePluginsUpdate,
} from '../store/plugins-updates.sql';
import { initiateUpdate, isRefusal, updateIdOf } from './initiate-update';

type Deps = ServiceDeps;

/** Lease of an update; renewed while a process works on it (`underLease`), so that another replica continues soon after a crash. */
export const LEASE_MS = 15_000;
/** An update of one deployment that takes longer counts as failed (reference/workflows.md 1.15). */
const UPDATE_LIMIT_MS = 3_600_000;
/** Time between two checks of a running update. */
const LOOK_MS = 500;
const AT_ONCE = 0;

const copyOf = ({ tenant, blueprint_id, temp_blueprint_id }: PluginsUpdateRow) => ({
  tenant,
  blueprintId: blueprint_id,
  tempBlueprintId: temp_blueprint_id,
});
const callerOf = ({ created_by, is_administrator }: PluginsUpdateRow) => ({
  username: created_by,
  isAdministrator: is_administrator,
});
const tenantsOf = ({ tenant, deployments }: PluginsUpdateRow): string[] => [
  ...new Set([tenant, ...deployments.map((one) => one.tenant)]),
];
const leaseOf = ({ id, lease_owner }: PluginsUpdateRow) => ({ id, owner: lease_owner!, leaseMs: LEASE_MS });

const PERMISSION = 'plugins_update_create';

/**
 * Returns the requesting user as principal in a tenant. In the tenant of the update the rights at the time of the request count; in
 * other tenants the current rights there. Null when the user may not update there (reference/rest-api.md 2.4: roles belong to one
 * tenant).
 */
async function actingFor(deps: Deps, update: PluginsUpdateRow, tenant: string): Promise<Principal | null> {
  if (tenant !== update.tenant) {
    const principal = await deps.identity.principal(update.created_by, tenant);
    return principal !== null && hasPermission(principal, PERMISSION) ? principal : null;
  }
  return principalOf(tenant, callerOf(update));
}

/**
 * Takes one step of a leased update; returns the ms after which to check again. Each step may be repeated after a crash at any
 * point of it: the names of the copy, the execution and each deployment's update are stored before these are created.
 */
export async function drivePluginsUpdate(deps: Deps, update: PluginsUpdateRow): Promise<number> {
  switch (update.state) {
    case 'updating':
      try {
        await prepareDeployments(deps, update);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        await failPluginsUpdate(deps, update);
      }
      return AT_ONCE;
    case 'executing_workflow':
      return await updateDeployments(deps, update);
    case 'finalizing':
      await finalize(deps, update);
      return AT_ONCE;
    default:
      return AT_ONCE;
  }
}

/** Makes the copy, finds the deployments that are not up to date, and starts the execution. */
export async function prepareDeployments(deps: Deps, update: PluginsUpdateRow): Promise<void> {
  const { tenant, temp_blueprint_id: tempId } = update;
  if (!(await deps.catalog.preparePluginsUpdate(copyOf(update), update.selection, callerOf(update)))) {
    await writePluginsUpdate(deps.db.query, leaseOf(update), { state: 'no_changes_required' });
    return;
  }
  const copy = await deps.catalog.blueprint(tenant, tempId, callerOf(update));
  const wanted = pluginsOf(copy?.plan ?? {}).join();
  const deployments = (await deploymentsOf(deps, update))
    .filter((one) => one.plugins.length === 0 || one.plugins.join() !== wanted)
    .map((one): UpdatedDeployment => {
      return { tenant: one.tenant, id: one.id, state: 'waiting', request_id: null, since: null };
    });
  const executionId = await deps.executions.startSystemWorkflow({
    tenant,
    requestId: update.id,
    createdBy: update.created_by,
    deploymentId: '',
    deploymentDisplayName: '',
    blueprintId: '',
    visibility: update.visibility,
    workflowId: 'update_plugin',
    parameters: executionParameters(update, deployments),
    force: true,
  });
  await writePluginsUpdate(deps.db.query, leaseOf(update), {
    state: 'executing_workflow',
    execution_id: executionId,
    deployments,
  });
}

/**
 * Returns the deployments of the update's tenant; with `all_tenants` and a global blueprint also those of other tenants where its
 * user may update.
 */
async function deploymentsOf(deps: Deps, update: PluginsUpdateRow): Promise<DeploymentPlugins[]> {
  const { blueprint_id: blueprintId, all_tenants, visibility } = update;
  // The database limits a request to its tenant; this code decides, tenant by tenant, about access to other tenants.
  return await outsideRequests(async () => {
    const isEverywhere = all_tenants && visibility === 'global';
    const others = isEverywhere ? await tenantsOfBlueprint(deps.db.query, blueprintId) : [];
    const found: DeploymentPlugins[] = [];
    for (const tenant of new Set([update.tenant, ...others])) {
      const principal = await actingFor(deps, update, tenant);
      if (principal)
        found.push(...(await deploymentsWithPlugins(deps.db.query, principal, { blueprintId, tenant })));
    }
    return found;
  });
}

function executionParameters(update: PluginsUpdateRow, deployments: readonly UpdatedDeployment[]) {
  return {
    update_id: update.id,
    temp_blueprint_id: update.temp_blueprint_id,
    deployments_to_update: deployments.filter((one) => one.tenant === update.tenant).map((one) => one.id),
    force: update.forced,
    auto_correct_types: update.auto_correct_types,
  };
}

/** Returns `package version` of all plugins of the plan's nodes, sorted. */
function pluginsOf(plan: JsonObject): string[] {
  const nodes = Array.isArray(plan.nodes) ? (plan.nodes as JsonObject[]) : [];
  const plugins = nodes.flatMap((node) => (Array.isArray(node.plugins) ? node.plugins : []));
  const named = plugins.filter(isJsonObject).filter((plugin) => typeof plugin.package_name === 'string');
  return [
    ...new Set(
      named.map((plugin) => `${String(plugin.package_name)} ${String(plugin.package_version ?? '')}`),
    ),
  ].sort();
}

/** Ends an update as failed: its request was refused, or its process died and cannot continue. */
export async function failPluginsUpdate(deps: Deps, update: PluginsUpdateRow): Promise<void> {
  await deps.catalog.dropPluginsUpdate(copyOf(update), false);
  await writePluginsUpdate(deps.db.query, leaseOf(update), { state: 'failed' });
}

async function updateDeployments(deps: Deps, update: PluginsUpdateRow): Promise<number> {
  const status = await deps.executions.report({ executionId: update.execution_id! });
  if (status === 'cancelled' || status.endsWith('cancelling'))
    return await decide(deps, update, { status: 'cancelled', error: '' });
  if (status === 'pending' || status === 'queued') return LOOK_MS;
  if (status !== 'started')
    return await decide(deps, update, {
      status: 'failed',
      error: `Its execution ended as ${status || 'deleted'}`,
    });
  const current = update.deployments.find((one) => one.state === 'waiting' || one.state === 'updating');
  if (current) return await updateOne(deps, update, current);
  const failed = update.deployments.filter((one) => one.state === 'failed').map((one) => one.id);
  return await decide(
    deps,
    update,
    failed.length === 0
      ? { status: 'terminated', error: '' }
      : { status: 'failed', error: `These deployments were not updated: ${failed.join(', ')}` },
  );
}

async function decide(
  deps: Deps,
  update: PluginsUpdateRow,
  outcome: NonNullable<PluginsUpdateRow['outcome']>,
): Promise<number> {
  await writePluginsUpdate(deps.db.query, leaseOf(update), { state: 'finalizing', outcome });
  return AT_ONCE;
}

/** Starts the update of one deployment, or checks its progress. */
async function updateOne(deps: Deps, update: PluginsUpdateRow, one: UpdatedDeployment): Promise<number> {
  const nowMs = systemClock.now();
  if (one.request_id === null) {
    await note(deps, update, one, { state: 'updating', request_id: newId(), since: isoInstant(nowMs) });
    return AT_ONCE;
  }
  const updateId = updateIdOf(one.id, one.request_id);
  const progress = await updateProgress(deps.db.query, updateId);
  // Stored without an execution: the process died, or got no answer, before the execution was started.
  if (!progress || (progress.state === 'updating' && !progress.isStarted))
    return await begin(deps, update, one);
  const { state } = progress;
  if (state === 'updating' && nowMs - Date.parse(one.since!) < UPDATE_LIMIT_MS) return LOOK_MS;
  const isUpdated = state === 'successful';
  await tell(deps, update, isUpdated ? `Deployment ${one.id} is updated` : `Deployment ${one.id} failed`);
  await note(deps, update, one, { state: isUpdated ? 'successful' : 'failed' });
  return AT_ONCE;
}

/**
 * Starts the update of a deployment. Node instances stay unchanged; only the declarations of plugins are new. A deployment that is
 * gone counts as updated.
 */
async function begin(deps: Deps, update: PluginsUpdateRow, one: UpdatedDeployment): Promise<number> {
  if (!(await readDeployment(deps.db.query, one.tenant, one.id))) {
    await note(deps, update, one, { state: 'successful' });
    return AT_ONCE;
  }
  const body = {
    blueprint_id: update.temp_blueprint_id,
    force: true,
    skip_install: true,
    skip_uninstall: true,
    skip_reinstall: true,
    auto_correct_types: update.auto_correct_types,
  };
  const principal = await actingFor(deps, update, one.tenant);
  if (!principal) {
    await tell(deps, update, `Deployment ${one.id} failed: ${update.created_by} may not update it any more`);
    await note(deps, update, one, { state: 'failed' });
    return AT_ONCE;
  }
  try {
    await initiateUpdate(deps, principal, one.id, body, one.request_id!);
    await tell(deps, update, `Updating deployment ${one.id}`);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await tell(deps, update, `Deployment ${one.id} failed: ${(error as Error).message}`);
    await note(deps, update, one, { state: 'failed' });
  }
  return LOOK_MS;
}

async function note(
  deps: Deps,
  update: PluginsUpdateRow,
  one: UpdatedDeployment,
  change: Partial<UpdatedDeployment>,
): Promise<void> {
  const deployments = update.deployments.map((other) => (other === one ? { ...one, ...change } : other));
  await writePluginsUpdate(deps.db.query, leaseOf(update), { deployments });
}

const tell = (deps: Deps, update: PluginsUpdateRow, line: string): Promise<unknown> =>
  deps.executions.report({
    executionId: update.execution_id!,
    log: { batchId: newId(), lines: [line] },
  });

/**
 * Ends an update. When all deployments are updated, the blueprint takes over the copy's plan, the deployments go back to the
 * blueprint and the copy is deleted. Otherwise the blueprint stays unchanged, and the copy stays when deployments still use it.
 */
async function finalize(deps: Deps, update: PluginsUpdateRow): Promise<void> {
  const { blueprint_id: blueprintId, temp_blueprint_id: tempId } = update;
  const tenants = tenantsOf(update);
  let outcome = update.outcome!;
  if (outcome.status === 'terminated') {
    try {
      await deps.catalog.adoptPluginsUpdate(copyOf(update));
      await deps.db.tx((tx) => switchBlueprint(tx, tenants, tempId, blueprintId));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      outcome = { status: 'failed', error: (error as Error).message };
    }
  }
  const isKept = await isBlueprintUsed(deps.db.query, tenants, tempId);
  await deps.catalog.dropPluginsUpdate(copyOf(update), isKept);
  const { status, error } = outcome;
  await deps.executions.report({ executionId: update.execution_id!, end: { status, error } });
  const state = status === 'terminated' ? 'successful' : 'failed';
  await writePluginsUpdate(deps.db.query, leaseOf(update), { state, outcome });
}
