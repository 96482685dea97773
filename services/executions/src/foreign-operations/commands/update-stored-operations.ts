import { isAdministrator, type Principal } from '@baton/contracts';
import type { storedOperationsChange } from '@baton/contracts/http/operations';
import { AppError, badParameter, type JsonObject, nearestName, notFound } from '@baton/kernel';
import type { PlanNode, PlanOperation } from '@baton/task-graph';
import type { z } from 'zod';
import { executionScope } from '../../executions/queries/list-executions';
import type { Ports } from '../../ports';
import { updateStoredInputs } from '../store/client-graphs.sql';

type Change = z.infer<typeof storedOperationsChange>;

/**
 * POST /operations, `update-stored` (reference/rest-api.md 5.17): an engine outside of this service stores operations here and
 * may resume them; after a deployment update, they get the present inputs of the node. One statement; repeating it changes
 * nothing more.
 * @throws AppError not_found_error for deployment and node, bad_parameters_error for an operation that the node lacks.
 */
export async function updateStoredOperations(
  deps: Pick<Ports, 'db' | 'deployments'>,
  principal: Principal,
  change: Change,
): Promise<void> {
  const { deployment_id: deploymentId, node_id: nodeId, operation } = change;
  if (!deploymentId) return;
  if (!nodeId) throw badParameter('node_id', 'node_id is missing');
  if (!operation) throw badParameter('operation', 'operation is missing');
  const { tenant, username } = principal;
  const caller = { username, isAdministrator: isAdministrator(principal) };
  const facts = await deps.deployments.facts(tenant, deploymentId, caller);
  const { model } = await deps.deployments.model(tenant, facts.id);
  const node = model.nodes.find((one) => one.id === nodeId);
  if (!node) throw notFound('Node', nodeId);
  const found = operationOf(node, operation, change);
  const of = { tenant, deploymentId, nodeId: found.nodeId, operation };
  await deps.db.tx((tx) => updateStoredInputs(tx, of, found.inputs, executionScope(principal, false)));
}

/** Returns the node and the inputs of an operation. A target operation runs at the node at the other end of the relationship. */
function operationOf(
  node: PlanNode,
  name: string,
  { rel_index: index, key }: Change,
): { nodeId: string; inputs: JsonObject } {
  if (index === undefined || index === null) return { nodeId: node.id, ...inputsOf(node.operations, name) };
  const side = key ?? 'source_operations';
  const relationship = node.relationships[index];
  if (!relationship)
    throw new AppError('bad_parameters_error', `Node \`${node.id}\` has no relationship ${index}`, {
      field: 'rel_index',
      expected: `below ${node.relationships.length}`,
    });
  const nodeId = side === 'target_operations' ? relationship.target_id : node.id;
  return { nodeId, ...inputsOf(relationship[side] ?? {}, name) };
}

function inputsOf(operations: Record<string, PlanOperation>, name: string): { inputs: JsonObject } {
  if (Object.hasOwn(operations, name)) return { inputs: operations[name]!.inputs ?? {} };
  const nearest = nearestName(name, Object.keys(operations));
  throw badParameter('operation', `There is no operation \`${name}\``, nearest ? { nearest } : {});
}
