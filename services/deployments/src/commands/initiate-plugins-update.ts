import { isAdministrator, type PluginSelection, type Principal, requireOwnTenant } from '@baton/contracts';
import { AppError, newId, notFound } from '@baton/kernel';
import { underLease } from '@baton/service-runtime';
import type { ServiceDeps } from '../deps';
import {
  insertPluginsUpdate,
  lockUpdatesOf,
  openUpdateOf,
  readPluginsUpdate,
  releasePluginsUpdate,
  renewPluginsUpdate,
} from '../store/plugins-updates.sql';
import { failPluginsUpdate, LEASE_MS, prepareDeployments } from './drive-plugins-update';
import { isRefusal } from './initiate-update';

export interface InitiatePluginsUpdate extends PluginSelection {
  force: boolean;
  auto_correct_types: boolean;
  all_tenants: boolean;
}

/**
 * Starts a plugins update (reference/rest-api.md 5.18): a hidden copy of the blueprint with other versions of its plugins, and the
 * execution update_plugin that moves its deployments to the copy. Returns the id; the state is no_changes_required when every
 * plugin has its version already. A crash leaves a row whose lease expires: the loop then continues it.
 * @throws AppError not_found_error, conflict_error while another update of the blueprint is running (unless `force`) or when it is
 * not uploaded, bad_parameters_error, invalid_blueprint_error.
 */
export async function initiatePluginsUpdate(
  deps: ServiceDeps,
  principal: Principal,
  blueprintId: string,
  body: InitiatePluginsUpdate,
): Promise<string> {
  const { tenant, username } = principal;
  const caller = { username, isAdministrator: isAdministrator(principal) };
  const blueprint = await deps.catalog.blueprint(tenant, blueprintId, caller);
  if (!blueprint) throw notFound('Blueprint', blueprintId);
  requireOwnTenant(principal, blueprint.tenant, `Blueprint \`${blueprintId}\``);
  if (blueprint.state !== 'uploaded')
    throw new AppError('conflict_error', `Blueprint \`${blueprintId}\` is in state ${blueprint.state}`, {
      state: blueprint.state,
    });
  const { force, all_tenants, auto_correct_types, ...selection } = body;
  const id = newId();
  const owner = `${deps.instanceId}/${id}`;
  await deps.db.tx(async (tx) => {
    await lockUpdatesOf(tx, tenant, blueprintId);
    const open = await openUpdateOf(tx, tenant, blueprintId);
    if (open !== null && !force)
      throw new AppError(
        'conflict_error',
        `Plugins update \`${open}\` of blueprint \`${blueprintId}\` has not ended`,
        { plugins_update_id: open, expected: 'force' },
      );
    const row = {
      id,
      tenant,
      blueprint_id: blueprintId,
      temp_blueprint_id: `${blueprintId.slice(0, MAX_PREFIX)}-${id}`,
      visibility: blueprint.visibility,
      created_by: username,
      is_administrator: caller.isAdministrator,
      forced: force,
      all_tenants,
      selection,
      auto_correct_types,
    };
    await insertPluginsUpdate(tx, row, owner, LEASE_MS);
  });
  const update = (await readPluginsUpdate(deps.db.query, id))!;
  const lease = {
    leaseMs: LEASE_MS,
    renew: () => renewPluginsUpdate(deps.db.query, id, owner, LEASE_MS),
    stopping: NEVER,
    log: deps.log,
  };
  try {
    await underLease(lease, () => prepareDeployments(deps, update));
  } catch (error) {
    // A refused update has ended; after any other error the loop continues it.
    if (isRefusal(error)) await failPluginsUpdate(deps, update);
    throw error;
  }
  await releasePluginsUpdate(deps.db.query, id, owner, 0);
  deps.kickPluginsUpdates();
  return id;
}

/** A signal that never aborts: an accepted request is answered before its process ends. */
const NEVER = new AbortController().signal;

/** Ids of blueprints have at most 256 characters. */
const MAX_PREFIX = 200;
