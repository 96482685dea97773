import { AppError } from '@baton/kernel';
import type { ActiveExecution } from '../adapters/executions.client';
import type { ServiceDeps } from '../deps';
import { type Dependent, dependentsError, describeDependent } from '../domain/dependents';
import type { RefusalTexts } from '../domain/refusal-texts';
import { readDependents } from '../store/dependencies.sql';
import type { DeploymentRow } from '../store/deployments.sql';
import { liveInstances } from '../store/node-instances.sql';

/** A reason why a deployment cannot be deleted. */
export interface DeletionBlocker {
  kind: 'dependent' | 'execution' | 'node_instance';
  /** Dependent deployments, executions or node instances; of many instances the first few. */
  things: { id: string; reason: string }[];
  /** The error of a delete. */
  refusal: AppError;
}

type Deleted = Pick<DeploymentRow, 'key' | 'tenant' | 'id'>;

/** The facts for the decision; each is read only when it is needed. */
export interface DeletionFacts {
  /** Deployments that need this one, without those that are deleted with it. */
  dependents(): Promise<Dependent[]>;
  /** Executions that have not ended. */
  active(): Promise<ActiveExecution[]>;
  /** Some instances that are neither uninitialized nor deleted. */
  live(): Promise<string[]>;
  texts: RefusalTexts;
}

/** `family`: keys of deployments that are deleted with it; they do not count as dependents. */
export const deletionFacts = (
  deps: Pick<ServiceDeps, 'db' | 'executions' | 'texts'>,
  { key, tenant, id }: Deleted,
  family: readonly number[],
): DeletionFacts => ({
  dependents: () => readDependents(deps.db.query, key, family),
  active: () => deps.executions.active(tenant, id),
  live: () => liveInstances(deps.db.query, key),
  texts: deps.texts,
});

/**
 * Yields the blockers of a delete in the order in which a delete checks them: a caller that takes only the first one reads no more
 * than needed. `force` skips dependents and live instances.
 */
export async function* deletionBlockers(
  row: Deleted,
  facts: DeletionFacts,
  { force }: { force: boolean },
): AsyncGenerator<DeletionBlocker, void, undefined> {
  if (!force) {
    // A parent that is being uninstalled deletes its components.
    const dependents = (await facts.dependents()).filter((dependent) => !dependent.isLeaving);
    if (dependents.length > 0) yield dependentsBlocker(row, dependents);
  }
  const active = await facts.active();
  if (active.length > 0) yield executionsBlocker(row, active, facts.texts);
  if (force) return;
  const live = await facts.live();
  if (live.length > 0) yield instancesBlocker(row, live);
}

function dependentsBlocker({ id }: Deleted, dependents: readonly Dependent[]): DeletionBlocker {
  const things = dependents.map((dependent) => ({
    id: dependent.deploymentId,
    reason: describeDependent(dependent),
  }));
  return { kind: 'dependent', things, refusal: dependentsError('delete', id, dependents) };
}

function executionsBlocker(
  { id }: Deleted,
  active: readonly ActiveExecution[],
  texts: RefusalTexts,
): DeletionBlocker {
  const names = active.map((one) => `${one.workflow_id} (${one.id}, ${one.status})`);
  const refusal = new AppError('dependent_exists_error', texts.activeExecutions(id, names), {
    executions: active.map((one) => one.id),
    expected: 'no active executions',
  });
  const things = active.map((one) => ({ id: one.id, reason: `${one.workflow_id} is ${one.status}` }));
  return { kind: 'execution', things, refusal };
}

function instancesBlocker({ id }: Deleted, live: readonly string[]): DeletionBlocker {
  const message = `Cannot delete deployment \`${id}\`: it has live node instances: ${live.join(', ')}${live.length === 5 ? ', ...' : ''}`;
  const refusal = new AppError('dependent_exists_error', message, {
    node_instances: live,
    expected: 'every node instance uninitialized or deleted, or force',
  });
  const things = live.map((instance) => ({
    id: instance,
    reason: 'It is neither uninitialized nor deleted',
  }));
  return { kind: 'node_instance', things, refusal };
}
