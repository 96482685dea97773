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
  return wire.present(call.version, 'nodeInstance', found);
}

async function patch(
  deps: ServiceDeps,
  wire: WirePolicy,
  call: HttpCall<InstancePatch, { force?: boolean }>,
  id: string,
): Promise<Record<string, unknown>> {
  await patchNodeInstance(deps, call.principal, id, call.body, call.query.force ?? false);
  return one(deps, wire, call, id);
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
