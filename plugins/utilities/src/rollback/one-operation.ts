import { workflow } from '@baton/plugin-sdk';
import * as z from 'zod';
import { dictOf } from '../json';
import { runOperations } from '../selection/run-operations';
import { SELECTION, select, selectionOf } from '../selection/select';

const NAMES = [
  ...(['start', 'stop', 'precreate', 'create', 'configure'] as const),
  ...(['poststart', 'prestop', 'delete', 'postdelete'] as const),
] as const;

const BEFORE_START = ['precreate', 'create', 'configure'];

/** A workflow that runs one operation of the lifecycle on chosen instances. */
const oneOperation = (name: string) =>
  workflow({
    mapping: `lifecycle_operations.cloudify_rollback_workflow.workflows.${name}`,
    isResumable: true,
    availableWhen: BEFORE_START.includes(name) ? ['partial', 'none'] : ['all', 'partial'],
    parameters: z.object({
      operation_parms: z.any().default({}).describe('Inputs of the operation'),
      run_by_dependency_order: z.boolean().default(true).describe('In the order of the relationships'),
      ...SELECTION,
      ignore_failure: z.boolean().default(false).describe('A failed operation has no effect'),
    }),
    async run(ctx, parameters) {
      const model = await ctx.model();
      await runOperations(ctx, model, select(model, selectionOf(parameters)), {
        operation: `cloudify.interfaces.lifecycle.${name}`,
        kwargs: dictOf(parameters.operation_parms),
        mayOverride: true,
        inOrder: parameters.run_by_dependency_order,
        ignoresFailure: parameters.ignore_failure,
      });
    },
  });

/** alt_start, alt_stop and so on. */
export const oneOperationWorkflows = Object.fromEntries(
  NAMES.map((name) => [`alt_${name}`, oneOperation(name)]),
);
