import { FatalError } from '@baton/plugin-sdk';
import type { ModuleScope } from '../module/schema';
import { FILES } from '../state/state-keeper';
import { inWorkspace, type Workspace } from '../workspace/workspace';
import { keepSettings, keepState } from './keep-results';
import { runEnabledLinters } from './linters';
import { forgetPlan, placeSavedPlan } from './plan-file';

const LOG_FLAGS = ['-no-color', '-input=false'];

/**
 * Makes the resources of the module. A saved plan is carried out exactly as it is, unless `force` is given; without one terraform
 * plans anew. May run again: terraform goes on from the state that is stored.
 */
export async function apply(scope: ModuleScope): Promise<void> {
  await inWorkspace(scope, { state: 'writes' }, (workspace) => applyIn(scope, workspace));
}

/** Fetches the module anew, and applies it. With `destroy_previous` what is there is destroyed first. */
export async function reload(scope: ModuleScope): Promise<void> {
  if (scope.inputs.destroy_previous === true) await destroyResources(scope);
  // A plan of the source before says nothing about the new one.
  await forgetPlan(scope);
  await inWorkspace(scope, { state: 'writes', isFresh: true }, (workspace) => applyIn(scope, workspace));
}

async function applyIn(scope: ModuleScope, workspace: Workspace): Promise<void> {
  const { terraform, variables, settings, flags } = workspace;
  await runEnabledLinters(scope, workspace);
  const isForced = scope.inputs.force === true;
  const saved = isForced ? null : await savedPlan(scope, workspace);
  const what = saved === null ? ['-auto-approve', ...variables] : [];
  const plan = saved === null ? [] : [saved];
  if (saved !== null) scope.log.info('Applying the saved plan');
  await terraform.run(['apply', ...LOG_FLAGS, ...what, ...flags('apply'), ...plan], {
    isLogged: settings.config.log_stdout,
  });
  // Before the results: a plan that was carried out must never be carried out again.
  await forgetPlan(scope);
  await keepState(scope, workspace);
  await keepSettings(scope, workspace);
  scope.runtime.is_drifted = false;
  scope.runtime.drifts = {};
}

async function savedPlan(scope: ModuleScope, workspace: Workspace): Promise<string | null> {
  try {
    return await placeSavedPlan(scope, workspace);
  } catch (cause) {
    if (!(cause instanceof FatalError) || !scope.ctx.isResumed) throw cause;
    throw new FatalError(
      'a worker was lost while it carried out the saved plan. The state holds what was made: look at it with terraform_plan, and apply the new plan',
      { cause },
    );
  }
}

/** Runtime properties that tell of resources. */
const OF_RESOURCES = [
  ...([
    'resources',
    'resources_by_address',
    'state',
    'outputs',
    'sensitive_outputs',
    'plan',
    'plain_text_plan',
  ] as const),
  ...(['is_drifted', 'drifts', 'resource_config', 'last_source_location', 'terraform_source'] as const),
] as const;

/** Destroys all resources, and removes what the manager keeps of the module. */
export async function destroy(scope: ModuleScope): Promise<void> {
  const { files, runtime, log } = scope;
  const stored = await files.list();
  const isKnown =
    stored.some(({ name, size }) => name === FILES.source && size !== null) || runtime.terraform_source;
  // Nothing was ever fetched: there is nothing that terraform could have made.
  if (isKnown) await destroyResources(scope);
  else log.info('There is no module to destroy');
  for (const name of [FILES.planFacts, FILES.plan, FILES.settings, FILES.state, FILES.source])
    await files.remove(name);
  for (const name of OF_RESOURCES) delete runtime[name];
}

const destroyResources = (scope: ModuleScope): Promise<void> =>
  inWorkspace(scope, { state: 'writes' }, async ({ terraform, variables, settings, flags }) => {
    await terraform.run(['destroy', '-auto-approve', ...LOG_FLAGS, ...variables, ...flags('destroy')], {
      isLogged: settings.config.log_stdout,
    });
  });

/** Reads the world into the state, and the state into runtime properties. */
export async function pull(scope: ModuleScope): Promise<void> {
  await inWorkspace(scope, { state: 'writes' }, async (workspace) => {
    const { terraform, variables } = workspace;
    await terraform.run(['apply', '-refresh-only', '-auto-approve', ...LOG_FLAGS, ...variables]);
    await keepState(scope, workspace);
  });
}

/** Lets the module take over a resource that is there already: inputs `resource_address` and `resource_id`. */
export async function importResource(scope: ModuleScope): Promise<void> {
  const [address, id] = [textInput(scope, 'resource_address'), textInput(scope, 'resource_id')];
  await inWorkspace(scope, { state: 'writes' }, async (workspace) => {
    const { terraform, variables, settings } = workspace;
    await terraform.run(['import', ...LOG_FLAGS, ...variables, address, id], {
      isLogged: settings.config.log_stdout,
    });
    await keepState(scope, workspace);
  });
}

/** A text that is an argument: it must not be taken for a flag. */
function textInput({ inputs }: ModuleScope, name: string): string {
  const value = inputs[name];
  if (typeof value === 'string' && value !== '' && !value.startsWith('-')) return value;
  throw new FatalError(`inputs.${name}: expected a text that does not begin with -`);
}
