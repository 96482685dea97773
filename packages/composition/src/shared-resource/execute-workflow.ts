import { isJsonObject, type Json } from '@baton/kernel';
import { FatalError, type PluginOperation } from '@baton/plugin-sdk';
import { storeCapabilities } from '../capabilities';
import type { CompositionDeps } from '../deps';
import { runWorkflow } from '../executions';
import { operationOf, scopeOf } from '../operation';
import type { Scope } from '../scope';
import { save } from '../state';
import { sharedRun, targetIdOf } from './target';

const TYPE = 'cloudify.nodes.SharedResource';

/**
 * `establish` and `unlink` of a relationship to a shared resource: runs a workflow on its deployment after the
 * executions that run there. The marker of the wait is stored at the source; capabilities and counted events are stored
 * at the target, as in the original (8.2).
 */
export function executeWorkflow(deps: CompositionDeps): PluginOperation {
  return operationOf('execute_workflow', async (ctx, inputs) => {
    const [source, target] = [await ctx.source(), await ctx.target()];
    const { properties } = target.node;
    // The target holds the settings; the source stores the state.
    const settings = { inputs: {}, properties, instance: target.instance };
    const scope = await scopeOf(deps, ctx, { ...settings, instance: source.instance }, settings);
    try {
      return await work(scope, { inputs, target });
    } finally {
      await save(source.instance);
      await save(target.instance);
    }
  });
}

async function work(
  scope: Scope,
  { inputs, target }: { inputs: Scope['inputs']; target: Awaited<ReturnType<Scope['ctx']['target']>> },
): Promise<Json> {
  const { ctx } = scope;
  const { workflow_id: workflowId, parameters, redirect_logs: redirect } = inputs;
  if (typeof workflowId !== 'string' || workflowId === '')
    throw new FatalError('workflow_id: the name of a workflow is expected');
  if (target.node.type !== TYPE)
    throw new FatalError(
      `Tried to execute "${workflowId}" workflow on a non SharedResource node "${target.node.id}"`,
    );
  const id = targetIdOf({ inputs: {}, instance: target.instance, properties: target.node.properties });
  const run = sharedRun(id, workflowId, `${target.instance.id}.${ctx.operation.name.split('.').at(-1)}`);
  await runWorkflow(scope, {
    ...run,
    request: { ...run.request, ...(isJsonObject(parameters) && { parameters }) },
    isLogged: redirect !== false,
    eventsOf: target.instance,
  });
  ctx.logger.info(`Execution succeeded for "${id}" SharedResource deployment of "${workflowId}" workflow`);
  await storeCapabilities(scope, id, target.instance);
  return true;
}
