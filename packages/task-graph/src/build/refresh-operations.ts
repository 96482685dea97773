import { canonicalJson } from '@baton/kernel';
import type { DeploymentModel } from '../model';
import type { OperationPayload } from '../operation';
import type { OperationTask, TaskRow } from '../task';
import { indexModel, type ModelIndex } from './model-index';
import { instanceOperation, type RetryConfig, relationshipOperationNamed } from './read-subject';

/** Programs that give their operations inputs of their own: what those were given stays. */
const WITH_PARAMETERS = new Set([
  'execute_operation',
  'start',
  'stop',
  'restart',
  'pull',
  'install_new_agents',
  'validate_agents',
]);

/**
 * Operations of a stopped graph that have not succeeded and are something else by now, because the deployment was updated
 * in between (reference workflows.md 2.9): their payload of the present model, by idx. What is no longer there stays as it was.
 */
export function refreshedOperations(
  program: string,
  rows: readonly TaskRow[],
  source: { model: DeploymentModel; config: RetryConfig },
): Map<number, OperationPayload> {
  const found = new Map<number, OperationPayload>();
  if (WITH_PARAMETERS.has(program)) return found;
  const ix = indexModel(source.model);
  for (const row of rows) {
    if (row.kind !== 'operation' || row.state === 'succeeded' || row.payload.isWorkflowCode) continue;
    const payload = presentPayload(ix, source.config, row);
    if (payload && !isSame(payload, row.payload)) found.set(row.idx, payload);
  }
  return found;
}

function presentPayload(
  ix: ModelIndex,
  config: RetryConfig,
  { payload: { operation, nodeInstanceId, relationship } }: OperationTask,
): OperationPayload | null {
  if (relationship === null) {
    const instance = ix.instances.get(nodeInstanceId);
    return (instance && instanceOperation(ix, config, instance, operation)?.payload) ?? null;
  }
  const source = ix.instances.get(relationship.sourceId);
  const own = source && ix.relationshipsOf(source).find(({ target }) => target.id === relationship.targetId);
  return (own && relationshipOperationNamed(ix, config, own, relationship.side, operation)?.payload) ?? null;
}

/** Stored payloads have been through JSON, which may have left members out that are undefined or in another order. */
function isSame(a: OperationPayload, b: OperationPayload): boolean {
  return canonicalJson(a) === canonicalJson(b);
}
