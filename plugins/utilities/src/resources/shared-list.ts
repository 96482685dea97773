import { FatalError, OperationDeferred, type RelationshipScope } from '@baton/plugin-sdk';
import { type Dict, dictOf, fieldAt, type Json } from '../json';

export const SHARED_RESOURCE = 'cloudify.nodes.SharedResource';
const LIST = 'cloudify.nodes.resources.List';
/** Statuses of an execution that has ended. */
const ENDED = new Set(['terminated', 'completed', 'failed', 'cancelled']);

type Scope = RelationshipScope;

/** Reserves an item of a list in the deployment of a shared resource, by an execution there, and returns the item. */
export async function reserveShared(scope: Scope, listNode: string): Promise<Json> {
  const { instance } = await scope.ctx.source();
  const deployment = await deploymentOf(scope);
  const list = await listIn(scope, deployment, listNode);
  if (itemOf(list, instance.id) === null) {
    await runThere(scope, deployment, 'reserve', instance.id);
    const item = itemOf(await listIn(scope, deployment, listNode), instance.id);
    if (item === null)
      throw new FatalError(`the deployment ${deployment} has no reservation for ${instance.id}`);
    return item;
  }
  return itemOf(list, instance.id);
}

/** Gives the item back. */
export async function returnShared(scope: Scope): Promise<void> {
  const { instance } = await scope.ctx.source();
  if (!instance.runtimeProperties.reservation) return;
  await runThere(scope, await deploymentOf(scope), 'return', instance.id);
}

async function deploymentOf({ ctx }: Scope): Promise<string> {
  const { node } = await ctx.target();
  const id = fieldAt(node.properties, ['resource_config', 'deployment', 'id']);
  if (typeof id !== 'string') throw new FatalError('the shared resource names no deployment');
  return id;
}

interface ListInstance {
  id: string;
  node_id: string;
  runtime_properties: Dict;
}

/** The instance of the list. @throws FatalError when there is none */
async function listIn({ manager }: Scope, deployment: string, node: string): Promise<ListInstance> {
  const query = { deployment_id: deployment };
  const nodes = await manager().get<{ items: { id: string; type: string }[] }>('/nodes', { query });
  const id = node || nodes.items.find(({ type }) => type === LIST)?.id;
  const instances = await manager().get<{ items: ListInstance[] }>('/node-instances', { query });
  const found = instances.items.find(({ node_id: of }) => of === id);
  if (found === undefined) throw new FatalError(`the deployment ${deployment} has no list of resources`);
  return found;
}

const itemOf = ({ runtime_properties: properties }: ListInstance, owner: string): Json => {
  const reservations = dictOf(properties.reservations);
  return Object.hasOwn(reservations, owner) ? reservations[owner]! : null;
};

/**
 * Runs an operation of the list, and waits for its end without a place at the worker. The execution is stored first: an attempt after
 * the wait, or after the loss of a worker, finds it.
 */
async function runThere(scope: Scope, deployment: string, operation: string, owner: string): Promise<void> {
  const { manager } = scope;
  const id = await scope.step(`${operation} ${deployment}`, async () => {
    const json = {
      deployment_id: deployment,
      workflow_id: 'execute_operation',
      queue: true,
      parameters: {
        operation: `cloudify.interfaces.operations.${operation}`,
        allow_kwargs_override: true,
        operation_kwargs: { reservation_id: owner },
        type_names: [LIST],
      },
    };
    return (await manager().post<{ id: string }>('/executions', { json })).id;
  });
  const { status, error } = await manager().get<{ status: string; error?: string }>(`/executions/${id}`);
  if (!ENDED.has(status))
    throw new OperationDeferred(`the list of ${deployment} (${operation})`, { untilExecution: id });
  if (status !== 'terminated' && status !== 'completed')
    throw new FatalError(`the list of ${deployment}: ${operation} is ${status}: ${error ?? ''}`);
}
