import type { Principal } from '@baton/contracts';
import type { FunctionStorage } from '@baton/dsl';
import { evaluateFunctions, evaluateNodeProperties } from '@baton/dsl';
import type { Json, JsonObject } from '@baton/kernel';
import type { ServiceDeps } from '../deps';
import { findDeployment } from '../store/deployments.sql';
import { behalfOf } from './evaluate-outputs';
import { functionError } from './function-error';
import { functionStorage } from './function-storage';

type Deps = Pick<ServiceDeps, 'db' | 'secrets'>;
type Item = Record<string, unknown>;

/** Keeps one storage per deployment, so that the nodes of a page share the values that were read. */
function storages(
  deps: Deps,
  principal: Principal,
): (deploymentId: string) => Promise<FunctionStorage | null> {
  const known = new Map<string, Promise<FunctionStorage | null>>();
  return (deploymentId) => {
    const load = async (): Promise<FunctionStorage | null> => {
      const row = await findDeployment(deps.db.query, principal, deploymentId);
      return row && functionStorage({ db: deps.db.query, secrets: deps.secrets }, row, behalfOf(principal));
    };
    const found = known.get(deploymentId) ?? load();
    known.set(deploymentId, found);
    return found;
  };
}

/** Evaluates the functions in properties and operation inputs of the nodes of a page (`_evaluate_functions`). */
export async function evaluateNodes(
  deps: Deps,
  principal: Principal,
  items: readonly Item[],
  instanceId: string | null,
): Promise<Item[]> {
  const storageOf = storages(deps, principal);
  const evaluated: Item[] = [];
  for (const item of items) {
    const storage = typeof item.deployment_id === 'string' ? await storageOf(item.deployment_id) : null;
    evaluated.push(storage ? await evaluateNode(item, storage, instanceId) : item);
  }
  return evaluated;
}

async function evaluateNode(item: Item, storage: FunctionStorage, instanceId: string | null): Promise<Item> {
  const result: Item = { ...item };
  if (item.properties !== undefined && typeof item.id === 'string') {
    const node = await evaluateNodeProperties(
      { id: item.id, properties: item.properties as JsonObject },
      storage,
      instanceId,
    );
    if (!node.ok) throw functionError('functions_evaluation_error', node.error);
    result.properties = node.value.properties;
  }
  // Without an instance, SELF has no meaning in inputs: they stay unevaluated.
  if (item.operations !== undefined && instanceId !== null) {
    const operations = await evaluateFunctions(item.operations as Json, storage, {
      context: { self: instanceId },
      path: 'operations',
    });
    if (!operations.ok) throw functionError('functions_evaluation_error', operations.error);
    result.operations = operations.value;
  }
  return result;
}

/** Evaluates the functions in the runtime properties of a node instance. */
export async function evaluateInstance(deps: Deps, principal: Principal, item: Item): Promise<Item> {
  const storage = await storages(deps, principal)(String(item.deployment_id));
  if (!storage) return item;
  const result = await evaluateFunctions(item.runtime_properties as Json, storage, {
    context: { self: String(item.id) },
    path: 'runtime_properties',
  });
  if (!result.ok) throw functionError('functions_evaluation_error', result.error);
  return { ...item, runtime_properties: result.value };
}
