import type { Json } from '@baton/kernel';
import type { PluginDefinition } from '../define/definition';
import { type DeclaredWorkflow, type WorkflowScope, workflowMapping } from '../define/workflow-type';
import { DefinitionError } from '../schema/definition-error';
import { parseValues } from '../schema/parse-values';
import { httpWith } from '../tools/http';
import type { PluginWorkflow, WorkflowContext } from '../workflow';
import { managerOf } from './base-scope';

/** All workflows of a definition, by mapping. @throws DefinitionError when two have the same mapping */
export function workflowsFrom({ workflows = {} }: PluginDefinition): Record<string, PluginWorkflow> {
  const made: Record<string, PluginWorkflow> = {};
  for (const [name, declared] of Object.entries(workflows)) {
    const mapping = workflowMapping(name, declared);
    if (Object.hasOwn(made, mapping))
      throw new DefinitionError(
        ['plugin', 'workflows', name],
        `the mapping ${mapping} is there twice`,
        'another mapping',
      );
    made[mapping] = runnable(declared);
  }
  return made;
}

function runnable({ run, parameters: schema, isResumable = false }: DeclaredWorkflow): PluginWorkflow {
  return {
    isResumable,
    run: (ctx, parameters) =>
      run(
        scopeOf(ctx),
        (schema
          ? { ...parameters, ...parseValues(schema, parameters, 'parameters') }
          : parameters) as Readonly<Record<string, Json>>,
      ),
  };
}

const scopeOf = (ctx: WorkflowContext): WorkflowScope => ({
  ...ctx,
  http: httpWith({ signal: ctx.signal }),
  manager: () => managerOf(ctx),
});
