import { CancelledError, FatalError, type WorkflowScope, workflow } from '@baton/plugin-sdk';
import * as z from 'zod';
import { type Dict, dictOf, fieldAt, isDict, isSame, type Json, listOf } from '../json';
import { runOperations } from '../selection/run-operations';
import { hasOperation, SELECTION, select, selectionOf, textsOf } from '../selection/select';
import { findInstances } from './find-instances';
import { runScale, uninstallInOrder } from './run-scale';
import { entitiesOf, type ScaleSettings, settingsOf } from './settings';

const MAPPING = 'scalelist.cloudify_scalelist.workflows';

const SCALE = {
  scale_compute: z.boolean().default(false).describe('Scale the machine on which instances of the node run'),
  ignore_failure: z.boolean().default(false).describe('Go on when an operation of the uninstallation fails'),
  scale_transaction_field: z
    .string()
    .default('_transaction_id')
    .describe('Runtime property with the name of the scale-out'),
  node_sequence: z
    .any()
    .default(false)
    .describe('Nodes in the order of their installation, instead of the relationships'),
  rollback_on_failure: z.boolean().default(true).describe('Take the change back when it fails'),
};

const deploymentOf = (ctx: WorkflowScope): Promise<Dict> =>
  ctx.manager().get<Dict>(`/deployments/${encodeURIComponent(ctx.deployment.id)}`);

interface Plan {
  settings: ScaleSettings;
  /** Instances that are to go. */
  ids: string[];
}

/** Decides once: code that runs again after a crash sees other numbers of instances than at its beginning. */
const plan = async (ctx: WorkflowScope, make: () => Promise<Plan>): Promise<Plan> =>
  (await ctx.step('plan', async () => (await make()) as never)) as never;

/** New instances, each with runtime properties of its own. */
export const scaleUpList = workflow({
  mapping: `${MAPPING}.scaleuplist`,
  availableWhen: ['all', 'partial'],
  isResumable: true,
  parameters: z.object({
    scalable_entity_properties: z
      .any()
      .default({})
      .describe('By node: a list with the runtime properties of each new instance'),
    ...SCALE,
    ignore_rollback_failure: z
      .boolean()
      .default(true)
      .describe('Go on when taking the change back fails in part'),
    scale_transaction_value: z
      .string()
      .default('')
      .describe('Name of the scale-out. Empty: the id of the modification'),
  }),
  async run(ctx, parameters) {
    const given: unknown = parameters.scalable_entity_properties;
    const { settings } = await plan(ctx, async () => {
      const [deployment, model] = [await deploymentOf(ctx), await ctx.model()];
      const entities = entitiesOf(deployment, given, isDict);
      const how = { direction: 1, scalesCompute: parameters.scale_compute } as const;
      return { settings: settingsOf({ deployment, model }, entities, how), ids: [] };
    });
    await runScale(ctx, settings, {
      properties: given as Record<string, Dict[]>,
      transactionField: parameters.scale_transaction_field,
      transactionValue: parameters.scale_transaction_value,
      ignoresFailure: parameters.ignore_failure,
      ignoresRollbackFailure: parameters.ignore_rollback_failure,
      rollsBack: parameters.rollback_on_failure,
      sequence: textsOf(parameters.node_sequence),
    });
  },
});

/** Removes instances that have a value in their runtime properties, with all that were made together with them. */
export const scaleDownList = workflow({
  mapping: `${MAPPING}.scaledownlist`,
  availableWhen: ['all', 'partial'],
  isResumable: true,
  parameters: z.object({
    ...SCALE,
    scale_node_name: z.any().default('').describe('Names of nodes. Empty: all'),
    scale_node_field: z.any().default('').describe('Runtime property, or a path there as a list'),
    scale_node_field_value: z.any().default('').describe('The value, or a list of values'),
    force_db_cleanup: z.boolean().default(false).describe('Has no effect, as in the original'),
    all_results: z.boolean().default(false).describe('Has no effect: all instances are searched'),
    force_remove: z
      .boolean()
      .default(true)
      .describe(
        'Uninstall the instances when the manager would remove others, without changing their number',
      ),
  }),
  async run(ctx, parameters) {
    const path = listOf(parameters.scale_node_field);
    if (path.length === 0) throw new FatalError('scale_node_field: expected the name of a runtime property');
    const wanted: unknown = parameters.scale_node_field_value;
    const { settings, ids } = await plan(ctx, async () => {
      const [deployment, model] = [await deploymentOf(ctx), await ctx.model()];
      const byNode = findInstances(model, {
        nodes: textsOf(parameters.scale_node_name),
        path,
        values: (Array.isArray(wanted) ? wanted : [wanted]) as Json[],
        transactionField: parameters.scale_transaction_field,
      });
      const found = Object.values(byNode).flat();
      if (found.length === 0) return { settings: {}, ids: [] };
      const entities = entitiesOf(deployment, byNode, (value) => typeof value === 'string');
      const how = { direction: -1, scalesCompute: parameters.scale_compute } as const;
      return { settings: settingsOf({ deployment, model }, entities, how), ids: found };
    });
    if (ids.length === 0) return ctx.logger.info('Empty list for instances for remove.');
    const options = {
      ignoresFailure: parameters.ignore_failure,
      sequence: textsOf(parameters.node_sequence),
    };
    try {
      await runScale(ctx, settings, {
        ...options,
        properties: {},
        transactionField: '',
        transactionValue: '',
        ignoresRollbackFailure: true,
        rollsBack: parameters.rollback_on_failure,
        removable: ids,
      });
    } catch (error) {
      if (error instanceof CancelledError || !parameters.force_remove) throw error;
      ctx.logger.warning(`Scale down failed, and the instances are uninstalled: ${(error as Error).message}`);
      await uninstallInOrder(ctx, ids, [], options);
    }
  },
});

const IDLE_STATES = ['uninitialized', 'stopped', 'deleting', 'deleted'];
/** Operations that an instance without anything running does not need. */
const ENDING = ['unlink', 'prestop', 'stop', 'delete', 'postdelete'].map(
  (name) => `cloudify.interfaces.lifecycle.${name}`,
);

/** Runs an operation on instances that a runtime property chooses. */
export const updateOperationFiltered = workflow({
  mapping: `${MAPPING}.execute_operation`,
  availableWhen: ['all', 'partial'],
  isResumable: true,
  parameters: z.object({
    operation: z
      .string()
      .default('cloudify.interfaces.lifecycle.update')
      .describe('Operation with its interface'),
    operation_kwargs: z.any().default({}).describe('Inputs of the operation'),
    allow_kwargs_override: z
      .boolean()
      .nullable()
      .default(null)
      .describe('Whether these may replace declared inputs'),
    run_by_dependency_order: z.boolean().default(false).describe('In the order of the relationships'),
    ...SELECTION,
    node_field: z
      .any()
      .default('')
      .describe('Runtime property, or a path there as a list. Empty: all instances'),
    node_field_value: z.any().default('').describe('The value, or a list of values'),
  }),
  async run(ctx, parameters) {
    const { operation } = parameters;
    const path = listOf(parameters.node_field);
    const wanted: unknown = parameters.node_field_value;
    const values: unknown[] = Array.isArray(wanted) ? wanted : [wanted];
    const model = await ctx.model();
    const chosen = select(model, selectionOf(parameters)).filter(
      ({ node, instance }) =>
        hasOperation(node, operation) &&
        !(IDLE_STATES.includes(instance.state) && ENDING.includes(operation)) &&
        (path.length === 0 ||
          values.some((value) => isSame(value, fieldAt(instance.runtime_properties, path)))),
    );
    await runOperations(ctx, model, chosen, {
      operation,
      kwargs: dictOf(parameters.operation_kwargs),
      mayOverride: parameters.allow_kwargs_override ?? false,
      inOrder: parameters.run_by_dependency_order,
      ignoresFailure: false,
    });
  },
});
