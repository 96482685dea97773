import { isAppError, isJsonObject } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { SecretsPort } from '../adapters/secrets.client';
import type { RefusalTexts } from '../domain/refusal-texts';
import { evaluatePayload } from '../queries/evaluate-payload';
import {
  type ComputedDependency,
  computedDependencies,
  dependsOn,
  setDependencyTarget,
} from '../store/dependencies.sql';
import { readDeployment } from '../store/deployments.sql';
import { refreshConsumers } from '../store/labels.sql';
import { keysOfIds, lockGraph } from '../store/parents.sql';
import type { DB } from '../store/tables.gen';

interface Deps {
  db: Db<DB>;
  secrets: SecretsPort;
  texts: Pick<RefusalTexts, 'failedDependencies'>;
}

/**
 * Evaluates the functions that name targets of a deployment's dependencies after an execution of it has succeeded, and stores the
 * targets (reference/workflows.md 8.5). A function that cannot be evaluated, or names no deployment, stays open. Returns why the
 * execution has failed after all: a dependency that would close a cycle, which is not stored; null otherwise. May be repeated.
 */
export async function resolveDependencies(
  deps: Deps,
  { tenant, deploymentId }: { tenant: string; deploymentId: string },
): Promise<string | null> {
  const open = await computedDependencies(deps.db.query, tenant, deploymentId);
  const row = open.length > 0 ? await readDeployment(deps.db.query, tenant, deploymentId) : null;
  if (!row) return null;
  const named: { dependency: ComputedDependency; targetId: string }[] = [];
  for (const dependency of open) {
    const targetId = await evaluated(deps, row, dependency);
    if (targetId !== null && targetId !== deploymentId) named.push({ dependency, targetId });
  }
  const keys = await keysOfIds(
    deps.db.query,
    tenant,
    named.map(({ targetId }) => targetId),
  );
  const moved = named.flatMap(({ dependency: { id, target_key: before }, targetId }) => {
    const key = keys.get(targetId);
    return key === undefined || key === before ? [] : [{ id, before, targetId, key }];
  });
  // The usual end changes nothing, and locks nothing.
  if (moved.length === 0) return null;
  return deps.db.tx(async (tx) => {
    await lockGraph(tx, tenant);
    const changed: number[] = [];
    let failure: string | null = null;
    for (const { id, before, targetId, key } of moved) {
      if (await dependsOn(tx, key, row.key)) {
        failure ??= deps.texts.failedDependencies(
          deploymentId,
          `Cyclic dependency between ${deploymentId} and ${targetId}`,
        );
        continue;
      }
      await setDependencyTarget(tx, id, key);
      changed.push(key, ...(before === null ? [] : [before]));
    }
    await refreshConsumers(tx, changed);
    return failure;
  });
}

/** Returns the current id of the target; null when the function has no value yet, or a value that is no id. */
async function evaluated(
  deps: Deps,
  row: Parameters<typeof evaluatePayload>[1],
  { target_deployment_func: func, created_by: username }: ComputedDependency,
): Promise<string | null> {
  // A client may have stored any value here.
  if (!isJsonObject(func)) return null;
  const { function: payload = null, context } = func;
  const from = { db: deps.db.query, secrets: deps.secrets };
  try {
    const self = isJsonObject(context) ? context : {};
    const { id } = await evaluatePayload(from, row, { username }, { id: payload }, self);
    return typeof id === 'string' ? id : null;
  } catch (error) {
    if (isAppError(error) && !error.entry.retryable) return null;
    throw error;
  }
}
