import { nearestName } from '@baton/kernel';
import {
  FatalError,
  type Plugin,
  type PluginOperation,
  type PluginWorkflow,
  type WorkflowFunction,
} from '@baton/plugin-sdk';

export const SCRIPT_MAPPING = 'script_runner.tasks.run';
/** Mapping of workflows whose code is a script of the blueprint. */
export const WORKFLOW_SCRIPT_MAPPING = 'script_runner.tasks.execute_workflow';

/** Operations that run inside the worker's process, by mapping. */
export type OperationRegistry = ReadonlyMap<string, PluginOperation>;

/** @throws TypeError when two plugins claim the same mapping. */
export function buildRegistry(plugins: readonly Plugin[]): OperationRegistry {
  const registry = new Map<string, PluginOperation>();
  for (const plugin of plugins) {
    for (const [mapping, operation] of Object.entries(plugin.operations)) {
      if (registry.has(mapping))
        throw new TypeError(`operation ${mapping} is registered twice (again by ${plugin.name})`);
      registry.set(mapping, operation);
    }
  }
  return registry;
}

/** Workflows whose code runs inside the worker's process, by mapping. */
export type WorkflowRegistry = ReadonlyMap<string, PluginWorkflow | WorkflowFunction>;

/** @throws TypeError when two plugins claim the same mapping. */
export function buildWorkflowRegistry(plugins: readonly Plugin[]): WorkflowRegistry {
  const registry = new Map<string, PluginWorkflow | WorkflowFunction>();
  for (const plugin of plugins) {
    for (const [mapping, workflow] of Object.entries(plugin.workflows ?? {})) {
      if (registry.has(mapping))
        throw new TypeError(`workflow ${mapping} is registered twice (again by ${plugin.name})`);
      registry.set(mapping, workflow);
    }
  }
  return registry;
}

/** Returns the error for workflow code that this worker cannot run. */
export function unknownWorkflow(
  mapping: string,
  pluginName: string,
  known: Iterable<string> = [],
): FatalError {
  const nearest = nearestName(mapping, [...known]);
  const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
  return new FatalError(
    `no workflow ${mapping} in plugin ${pluginName || '(none)'} on this worker${hint}; a workflow may also be a Python ` +
      'script of the blueprint (mapping: scripts/name.py)',
  );
}

/** Returns the error for a mapping that cannot be run here: final, with the most similar known mapping. */
export function unknownMapping(mapping: string, pluginName: string, known: readonly string[]): FatalError {
  const nearest = nearestName(mapping, known);
  const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
  return new FatalError(`no operation ${mapping} in plugin ${pluginName || '(none)'} on this worker${hint}`);
}

/** Returns the error for an operation whose worker, or process, was lost: it may have had its effect. */
export function cannotResume(mapping: string, how = 'its worker was lost while it ran'): FatalError {
  return new FatalError(
    `Cannot resume - operation not resumable: ${mapping} (${how}; resume the execution to run it again)`,
  );
}
