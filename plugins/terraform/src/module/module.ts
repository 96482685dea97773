import { nodeType } from '@baton/plugin-sdk';
import { apply, destroy, importResource, pull, reload } from '../operations/apply';
import { checkDrift, checkStatus, plan } from '../operations/checks';
import { lint } from '../operations/linters';
import { migrateState } from '../operations/migrate';
import { IMPORT_INPUTS, LINT_INPUTS, MIGRATE_INPUTS, PLAN_INPUTS, RELOAD_INPUTS } from './inputs';
import { type ModuleScope, PROPERTIES, RUNTIME } from './schema';

/** The scope of an operation, whatever its inputs are. */
const on =
  <T>(work: (scope: ModuleScope) => Promise<T>) =>
  (scope: unknown): Promise<T> =>
    work(scope as ModuleScope);

const work = {
  apply: on(apply),
  pull: on(pull),
  destroy: on(destroy),
  reload: on(reload),
  /** Of the original it installs linters; here nothing is installed. */
  setUp: on(async () => undefined),
};

const LIFECYCLE = 'cloudify.interfaces.lifecycle';
const TERRAFORM = 'terraform';
const TASKS = 'tf.cloudify_tf.tasks';

/** A module of Terraform or OpenTofu. */
export const terraformModule = nodeType({
  derivedFrom: 'cloudify.nodes.ApplicationModule',
  description: 'A module of Terraform or OpenTofu: its state is a file of the instance, with a lock',
  properties: PROPERTIES,
  runtime: RUNTIME,
  inputs: { update: RELOAD_INPUTS },
  create: work.setUp,
  configure: work.apply,
  start: work.pull,
  delete: work.destroy,
  update: work.reload,
  operations: {
    heal: { interface: LIFECYCLE, run: work.reload },
    check_drift: { interface: LIFECYCLE, run: on(checkDrift) },
    check_status: { interface: 'cloudify.interfaces.validation', run: on(checkStatus) },
    pull: { interface: LIFECYCLE, run: work.pull, places: [{ interface: TERRAFORM }] },
    refresh: { interface: TERRAFORM, run: work.pull },
    plan: { interface: TERRAFORM, inputs: PLAN_INPUTS, run: on(plan) },
    reload: { interface: TERRAFORM, inputs: RELOAD_INPUTS, run: work.reload },
    import_resource: { interface: TERRAFORM, inputs: IMPORT_INPUTS, run: on(importResource) },
    migrate_state: { interface: TERRAFORM, inputs: MIGRATE_INPUTS, run: on(migrateState) },
    tfsec: { interface: TERRAFORM, inputs: LINT_INPUTS.tfsec, run: on(lint('tfsec')) },
    tflint: { interface: TERRAFORM, inputs: LINT_INPUTS.tflint, run: on(lint('tflint')) },
    terratag: { interface: TERRAFORM, inputs: LINT_INPUTS.terratag, run: on(lint('terratag')) },
    infracost: { interface: TERRAFORM, inputs: LINT_INPUTS.infracost, run: on(lint('infracost')) },
    opa: { interface: TERRAFORM, inputs: LINT_INPUTS.opa, run: on(lint('opa')) },
  },
  mappings: {
    create: `${TASKS}.setup_linters`,
    configure: `${TASKS}.apply`,
    start: `${TASKS}.state_pull`,
    delete: `${TASKS}.destroy`,
    update: `${TASKS}.reload_template`,
    heal: `${TASKS}.reload_template`,
    reload: `${TASKS}.reload_template`,
    pull: `${TASKS}.state_pull`,
    refresh: `${TASKS}.state_pull`,
    check_drift: `${TASKS}.check_drift`,
    check_status: `${TASKS}.check_status`,
    plan: `${TASKS}.plan`,
    import_resource: `${TASKS}.import_resource`,
    migrate_state: `${TASKS}.migrate_state`,
    tfsec: `${TASKS}.tfsec`,
    tflint: `${TASKS}.tflint`,
    terratag: `${TASKS}.terratag`,
    infracost: `${TASKS}.infracost`,
    opa: `${TASKS}.evaluate_opa_policy`,
  },
  // Whatever terraform had made when its worker was lost stands in the stored state; it goes on from there.
  resumable: [
    ...([
      'create',
      'configure',
      'start',
      'delete',
      'update',
      'heal',
      'check_drift',
      'check_status',
      'pull',
    ] as const),
    ...(['refresh', 'plan', 'reload', 'tfsec', 'tflint', 'infracost', 'opa'] as const),
  ],
});
