import type { ListQuery, Principal } from '@baton/contracts';
import { nodeInstancesRoutes } from '@baton/contracts/http/node-instances';
import { nodesRoutes } from '@baton/contracts/http/nodes';
import { type BoundRoute, bindRoutes, booleanOf, type HttpCall, listEnvelope } from '@baton/http';
import { AppError, notFound } from '@baton/kernel';
import { type InstancePatch, patchNodeInstance } from '../commands/node-instances';
import type { ServiceDeps } from '../deps';
import { evaluateInstance, evaluateNodes } from '../queries/evaluate-nodes';
import { listNodeInstances, readNodeInstance } from '../queries/list-node-instances';
import { listNodes } from '../queries/list-nodes';
import { visibleDeployment } from '../queries/visible-deployment';
import type { WirePolicy } from './wire-policy';

/** Nodes and node instances (spec v3.1 part 2, reference/rest-api.md 5.16). */
export function nodesHttp(deps: ServiceDeps, wire: WirePolicy): BoundRoute[] {
  return [
    ...bindRoutes(nodesRoutes, {
      listNodes: async (call) => {
        const { principal, list } = call;
        const page = await listNodes(deps, principal, list, { rules: null });
        const items = wantsEvaluation(list)
          ? await evaluateNodes(deps, principal, page.items, list.extra._instance_context?.at(-1) ?? null)
          : page.items;
        return listEnvelope(
          { ...page, items: items.map((item) => wire.present(call.version, 'node', item)) },
          list,
        );
      },
      createNodes: async ({ principal, body }) => {
        await refuseAddition(deps, principal, body.deployment_id, body.nodes);
      },
      updateNode: async () => updateOnly('Nodes are changed'),
      deleteNode: async () => updateOnly('Nodes are deleted'),
    }),
    ...bindRoutes(nodeInstancesRoutes, {
      listNodeInstances: async (call) => {
        const { principal, list } = call;
        const page = await listNodeInstances(deps.db.query, principal, list, { rules: null });
        return listEnvelope(
          { ...page, items: page.items.map((item) => wire.present(call.version, 'nodeInstance', item)) },
          list,
        );
      },
      getNodeInstance: async (call) => {
        const found = await one(deps, wire, call, call.params.id!);
        return call.query._evaluate_functions ? evaluateInstance(deps, call.principal, found) : found;
      },
      patchNodeInstance: (call) => patch(deps, wire, call, call.params.id!),
      patchNodeInstanceByQuery: (call) => patch(deps, wire, call, call.query.id),
      createNodeInstances: async ({ principal, body }) => {
        await refuseAddition(deps, principal, body.deployment_id, body.node_instances);
      },
      deleteNodeInstance: async () => updateOnly('Node instances are deleted'),
    }),
  ];
}

function wantsEvaluation(list: ListQuery): boolean {
  return booleanOf('_evaluate_functions', list.extra._evaluate_functions);
}

async function one(
  deps: ServiceDeps,
  wire: WirePolicy,
  call: Pick<HttpCall, 'principal' | 'version'>,
  id: string,
): Promise<Record<string, unknown>> {
  const found = await readNodeInstance(deps.db.query, call.principal, id);
  if (!found) throw notFound('NodeInstance', id);
  requireOwnDeployment(call.principal, String(found.deployment_id));
  return wire.present(call.version, 'nodeInstance', found);
}

async function patch(
  deps: ServiceDeps,
  wire: WirePolicy,
  call: HttpCall<InstancePatch, { force?: boolean }>,
  id: string,
): Promise<Record<string, unknown>> {
  if (call.principal.agentDeploymentId !== undefined) await checkAgentPatch(deps, wire, call, id);
  await patchNodeInstance(deps, call.principal, id, call.body, call.query.force ?? false);
  return one(deps, wire, call, id);
}

/** An agent reaches only its own deployment (http/agent-token.ts of contracts). @throws AppError forbidden_error */
function requireOwnDeployment({ agentDeploymentId }: Principal, deploymentId: string): void {
  if (agentDeploymentId === undefined || agentDeploymentId === deploymentId) return;
  throw new AppError(
    'forbidden_error',
    "The node instance is not of the deployment of the agent's operation",
  );
}

/** An agent changes the runtime properties of the instances of its operation, nothing else. @throws AppError */
async function checkAgentPatch(
  deps: ServiceDeps,
  wire: WirePolicy,
  call: HttpCall<InstancePatch>,
  id: string,
): Promise<void> {
  await one(deps, wire, call, id);
  const own = call.principal.agentInstances ?? [];
  if (!own.includes(id))
    throw new AppError(
      'forbidden_error',
      `An operation on an agent may change its own node instances, and ${id} is none of them`,
      { expected: own },
    );
  const others = Object.keys(call.body).filter((name) => name !== 'version' && name !== 'runtime_properties');
  if (others.length > 0)
    throw new AppError('forbidden_error', `An operation on an agent may not change ${others.join(', ')}`, {
      expected: 'runtime_properties',
    });
}

/** Refuses to add nodes: only updates do so, which write the model themselves. An empty list is no change and is accepted. */
async function refuseAddition(
  deps: ServiceDeps,
  principal: Principal,
  deploymentId: string,
  added: readonly unknown[],
): Promise<void> {
  await visibleDeployment(deps.db.query, principal, deploymentId);
  if (added.length > 0) updateOnly('Nodes and node instances are added');
}

function updateOnly(what: string): never {
  throw new AppError('only_deployment_update', `${what} only by a deployment update`);
}
