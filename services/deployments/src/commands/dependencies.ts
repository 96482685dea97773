import { type Ownership, ownershipOf, type Principal, rememberingUsers } from '@baton/contracts';
import { AppError, badParameter, newId, notFound } from '@baton/kernel';
import type { AnyTx, Db } from '@baton/postgres';
import type { IdentityPort } from '../adapters/identity.client';
import type { InterDeploymentFunction } from '../domain/deployment-plan';
import {
  deleteDependenciesOf,
  deleteDependencyRow,
  dependsOn,
  insertDependencies,
  lockIdentified,
  type NewDependency,
} from '../store/dependencies.sql';
import { type DeploymentRow, findDeployment } from '../store/deployments.sql';
import { refreshConsumers } from '../store/labels.sql';
import { keysOfIds, lockGraph } from '../store/parents.sql';
import type { DB } from '../store/tables.gen';

interface Deps {
  db: Db<DB>;
  identity: IdentityPort;
}

/** The fields that identify a dependency in requests (reference/rest-api.md 5.4). */
export interface DependencyBody {
  dependency_creator: string;
  source_deployment?: string | null;
  target_deployment?: string | null;
  target_deployment_func?: unknown;
  external_source?: unknown;
  external_target?: unknown;
  created_at?: string;
  created_by?: string;
}

/** Stores the dependencies of the get_capability calls in a new plan; a target that does not exist yet is stored as a function. */
export async function recordPlanDependencies(
  tx: AnyTx,
  of: { tenant: string; key: number; createdBy: string; visibility: string },
  functions: readonly InterDeploymentFunction[],
): Promise<void> {
  if (functions.length === 0) return;
  const ids = functions.map((f) => f.target_deployment[0]).filter((id) => id !== null);
  const keys = await keysOfIds(tx, of.tenant, ids);
  await insertDependencies(
    tx,
    of,
    functions.map(
      ({ function_identifier, target_deployment: [literal, argument], context }): NewDependency => {
        const target = literal === null ? null : (keys.get(literal) ?? null);
        return {
          id: newId(),
          dependency_creator: function_identifier,
          source_key: of.key,
          target_key: target,
          target_deployment_func: target === null ? { function: argument, context } : null,
          external_source: null,
          external_target: null,
          created_at: null,
        };
      },
    ),
  );
}

/** PUT: inserts a new row on each call. @throws AppError not_found_error, conflict_error for a cycle. */
export async function createDependency(
  deps: Deps,
  principal: Principal,
  body: DependencyBody,
): Promise<string> {
  return (await createDependencies(deps, principal, [body]))[0]!;
}

/** Inserts several dependencies in one transaction; returns their ids. */
export async function createDependencies(
  deps: Deps,
  principal: Principal,
  bodies: readonly DependencyBody[],
  replacing?: string,
): Promise<string[]> {
  for (const body of bodies) checkBody(body);
  const findUser = rememberingUsers(deps.identity.findUser);
  const owners = await Promise.all(bodies.map((body) => ownershipOf(principal, body, findUser)));
  return deps.db.tx(async (tx) => {
    await lockGraph(tx, principal.tenant);
    const rows: (NewDependency & { visibility: string })[] = [];
    const dropped: (number | null)[] = [];
    if (replacing !== undefined) {
      const source = await existing(tx, principal, replacing);
      dropped.push(...(await deleteDependenciesOf(tx, source.key)));
    }
    for (const [at, body] of bodies.entries()) rows.push(await resolve(tx, principal, body, owners[at]!));
    for (const [at, row] of rows.entries()) {
      const owner = {
        tenant: principal.tenant,
        createdBy: owners[at]!.createdBy,
        visibility: row.visibility,
      };
      await insertDependencies(tx, owner, [row]);
    }
    const targets = [...dropped, ...rows.map((row) => row.target_key)];
    await refreshConsumers(
      tx,
      [...new Set(targets)].filter((key) => key !== null),
    );
    return rows.map((row) => row.id);
  });
}

function checkBody(body: DependencyBody): void {
  if (!body.target_deployment && body.target_deployment_func === undefined && !body.external_target) {
    throw badParameter('target_deployment', 'One of target_deployment and target_deployment_func is needed', {
      expected: 'deployment id',
    });
  }
  if (!body.source_deployment && !body.external_source) {
    throw badParameter('source_deployment', 'source_deployment is needed', { expected: 'deployment id' });
  }
}

async function existing(tx: AnyTx, principal: Principal, id: string): Promise<DeploymentRow> {
  const found = await findDeployment(tx, principal, id);
  if (!found) throw notFound('Deployment', id);
  return found;
}

async function resolve(
  tx: AnyTx,
  principal: Principal,
  body: DependencyBody,
  { createdAt }: Ownership,
): Promise<NewDependency & { visibility: string }> {
  const source = body.external_source ? null : await existing(tx, principal, body.source_deployment!);
  const target =
    body.target_deployment && !body.external_target
      ? await existing(tx, principal, body.target_deployment)
      : null;
  if (source && target && (await dependsOn(tx, target.key, source.key))) {
    throw new AppError(
      'conflict_error',
      `A dependency of \`${source.id}\` on \`${target.id}\` would close a cycle`,
      { source: source.id, target: target.id },
    );
  }
  return {
    id: newId(),
    dependency_creator: body.dependency_creator,
    source_key: source?.key ?? null,
    target_key: target?.key ?? null,
    target_deployment_func: body.target_deployment_func ?? null,
    external_source: body.external_source ?? null,
    external_target: body.external_target ?? null,
    created_at: createdAt,
    visibility: source?.visibility ?? target?.visibility ?? 'tenant',
  };
}

/**
 * Deletes a dependency by its identifying fields. When several match, one with exactly this target is taken, then the oldest; with
 * `mayBeAny` false several equally good matches are refused. Of two concurrent requests only one finds it.
 * @throws AppError not_found_error, also for one that the caller does not see; ambiguous_name
 */
export async function deleteDependency(
  deps: Deps,
  principal: Principal,
  body: DependencyBody,
  { mayBeAny, beforeDelete }: { mayBeAny: boolean; beforeDelete(tx: AnyTx, id: string): Promise<void> },
): Promise<void> {
  await deps.db.tx(async (tx) => {
    const found = await lockIdentified(tx, principal, {
      creator: body.dependency_creator,
      source: body.external_source ? null : (body.source_deployment ?? null),
      target: body.target_deployment ?? null,
    });
    if (found === null) throw notFound('InterDeploymentDependencies', body.dependency_creator);
    if (!found.isAlone && !mayBeAny)
      throw new AppError('ambiguous_name', 'Several dependencies are as the request says', {
        field: 'dependency_creator',
      });
    await beforeDelete(tx, found.id);
    const target = await deleteDependencyRow(tx, found.id);
    if (target !== null) await refreshConsumers(tx, [target]);
  });
}
