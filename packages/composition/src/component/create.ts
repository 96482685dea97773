import { isJsonObject, type Json } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';
import { recordDependency } from '../dependencies';
import { findDeployment, readDeployment } from '../deployments';
import { untilTerminated } from '../executions';
import { isRefusal } from '../failures';
import { type Labels, labelsOf, labelValues, withLabel } from '../labels';
import { uploadPlugins } from '../plugins';
import type { Scope } from '../scope';
import { createNodeSecrets } from '../secrets';
import {
  blueprintIdOf,
  type ComponentConfig,
  componentConfigOf,
  deploymentIdOf,
  secondsInput,
} from '../settings';
import { objectIn, save, stateOf } from '../state';
import { INTERVAL_SECONDS, TIMEOUT_SECONDS } from './execute-start';

/** Runtime properties that record the completed steps, under the names of the reference. */
export const CREATED = '_component_create_deployment_id';
export const RECORDED = '_component_create_idd';

const PARENT = 'csys-obj-parent';
const SUFFIXES = 10;

/** `configure` of a component: its secrets, plugins, deployment and dependency (reference/workflows.md 8.1). */
export async function create(scope: Scope): Promise<Json> {
  const { ctx, instance, inputs } = scope;
  const config = componentConfigOf(scope);
  const labels = childLabels(scope, config);
  await createNodeSecrets(scope);
  await uploadPlugins(scope);
  let deploymentId = deploymentIdOf(instance, config);
  objectIn(instance.runtimeProperties, 'deployment');
  if (!config.deployment.external_resource) {
    deploymentId = await createOnce(scope, config, labels);
    if (instance.runtimeProperties[RECORDED] === undefined) {
      await recordDependency(scope, 'component', deploymentId);
      instance.runtimeProperties[RECORDED] = true;
      await save(instance);
    }
  }
  const { create_execution: execution } = await readDeployment(scope.manager, deploymentId);
  if (!execution) throw new FatalError(`No create execution found for deployment "${deploymentId}"`);
  await untilTerminated(scope, execution, {
    slot: 'create',
    deploymentId,
    workflowId: 'create_deployment_environment',
    isLogged: config.deployment.logs ?? true,
    timeout: secondsInput(inputs, 'timeout', TIMEOUT_SECONDS),
    interval: secondsInput(inputs, 'interval', INTERVAL_SECONDS),
  });
  objectIn(instance.runtimeProperties, 'deployment').id = deploymentId;
  ctx.logger.info(`Component deployment "${deploymentId}" is there`);
  return true;
}

function childLabels({ ctx, manager }: Scope, { deployment }: ComponentConfig): Labels {
  const labels = labelsOf(deployment.labels, 'deployment ');
  return manager.isExternal ? labels : withLabel(labels, PARENT, ctx.deployment.id);
}

/** Ids to try: the id, or with `auto_inc_suffix` `<id>-0` to `<id>-9`. */
export function candidateIds(id: string, hasSuffix: boolean): string[] {
  return hasSuffix ? Array.from({ length: SUFFIXES }, (_, i) => `${id}-${i}`) : [id];
}

/**
 * Creates the deployment and stores its id. For a crash in between: the id is stored before the creation, and an
 * existing deployment of that id with our blueprint and label is ours.
 */
async function createOnce(scope: Scope, config: ComponentConfig, labels: Labels): Promise<string> {
  const { instance, ctx } = scope;
  const known = instance.runtimeProperties[CREATED];
  if (typeof known === 'string') return known;
  const base = config.deployment.id ?? instance.id;
  let refusal: unknown = new FatalError('Unknown error creating deployment');
  for (const id of candidateIds(base, config.deployment.auto_inc_suffix ?? false)) {
    const isTriedBefore = stateOf(instance).creating === id;
    stateOf(instance).creating = id;
    await save(instance);
    try {
      if (!(isTriedBefore && (await isOurs(scope, config, id)))) await put(scope, config, labels, id);
      ctx.logger.info(`Creating "${id}" component deployment`);
      Object.assign(instance.runtimeProperties, {
        [CREATED]: id,
        deployment: { ...deploymentOf(instance), id },
      });
      await save(instance);
      return id;
    } catch (error) {
      if (!isRefusal(error, 'conflict_error')) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

function deploymentOf(instance: Scope['instance']): object {
  const known = instance.runtimeProperties.deployment;
  return isJsonObject(known) ? known : {};
}

async function put(
  { manager, instance }: Scope,
  config: ComponentConfig,
  labels: Labels,
  id: string,
): Promise<void> {
  await manager.client.call('createDeployment', {
    params: { id },
    query: { async_create: true },
    body: {
      blueprint_id: blueprintIdOf(instance, config.blueprint),
      inputs: config.deployment.inputs ?? {},
      labels,
    },
  });
}

async function isOurs(
  { manager, ctx, instance }: Scope,
  config: ComponentConfig,
  id: string,
): Promise<boolean> {
  const found = await findDeployment(manager, id);
  if (!found || found.blueprint_id !== blueprintIdOf(instance, config.blueprint)) return false;
  if (!manager.isExternal && !labelValues(found.labels, PARENT).includes(ctx.deployment.id)) return false;
  const { items } = await manager.client.call('listInterDeploymentDependencies', {
    query: { target_deployment_id: id, _get_all_results: true },
  });
  return !items.some((item) => item.dependency_creator.startsWith('component.'));
}
