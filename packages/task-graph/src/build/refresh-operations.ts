import { canonicalJson } from '@baton/kernel';
import type { DeploymentModel } from '../model';
import type { OperationPayload } from '../operation';
import type { OperationTask, TaskRow } from '../task';
import { indexModel, type ModelIndex } from './model-index';
import { instanceOperation, type OperationConfig, relationshipOperationNamed } from './read-subject';

/** Programs that pass their own inputs to their operations: the stored inputs stay. */
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
 * Unsucceeded operations of a stopped graph that changed through an update of the deployment in between (reference
 * workflows.md 2.9). Returns their payload from the present model, by idx. An operation that no longer exists stays as
 * it was.
 */
export function refreshedOperations(
  program: string,
  rows: readonly TaskRow[],
  source: { model: DeploymentModel; config: OperationConfig },
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
  config: OperationConfig,
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

/** Compares canonical JSON: a stored payload may have lost undefined members and changed their order. */
function isSame(a: OperationPayload, b: OperationPayload): boolean {
  return canonicalJson(a) === canonicalJson(b);
}
