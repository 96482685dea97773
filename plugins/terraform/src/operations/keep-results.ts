import { type BaseScope, FatalError } from '@baton/plugin-sdk';
import type { ModuleScope } from '../module/schema';
import { changesOf, type Plan } from '../state/drift';
import { readState, resourcesOf, type State } from '../state/read-state';
import { FILES } from '../state/state-keeper';
import { keptAfter } from '../workspace/settings';
import type { Workspace } from '../workspace/workspace';

/** Reads the state, and writes what users read of it to runtime properties. */
export async function keepState(
  scope: ModuleScope,
  { terraform, settings }: Workspace,
): Promise<State | null> {
  const { stdout } = await terraform.run(['state', 'pull'], { isDocument: true });
  const state = readState(stdout);
  const { byName, byAddress, shared } = resourcesOf(state);
  for (const name of shared)
    scope.log.warning(`Several resources have the name ${name}: all of them are in resources_by_address`);
  setWithin(scope, 'resources', byName);
  setWithin(scope, 'resources_by_address', byAddress);
  const outputs = Object.entries(state?.outputs ?? {});
  for (const [, { value, sensitive }] of outputs) if (sensitive) scope.hide(value);
  setWithin(scope, 'outputs', Object.fromEntries(outputs.filter(([, output]) => !output.sensitive)));
  keepSensitive(scope, outputs);
  await storeSecrets(scope, state, settings.config.store_output_secrets ?? {});
  if (state?.terraform_version) scope.runtime.terraform_version = state.terraform_version;
  return state;
}

/** Keeps what this operation was asked for: later ones go on with it. */
export async function keepSettings(scope: ModuleScope, { kept, settings }: Workspace): Promise<void> {
  const next = keptAfter(scope, kept);
  if (Object.keys(next).length === 0) await scope.files.remove(FILES.settings);
  else await scope.files.write(FILES.settings, JSON.stringify(next));
  const location = typeof settings.source === 'string' ? settings.source : settings.source.location;
  scope.runtime.resource_config = { source: { location }, source_path: settings.sourcePath };
}

/** A runtime property is read with each look at the instance: a larger value is left out, and said so. */
function setWithin(
  scope: ModuleScope,
  name: 'resources' | 'resources_by_address' | 'outputs' | 'plan',
  value: unknown,
): void {
  const size = JSON.stringify(value).length;
  const { max_runtime_property_size: most } = scope.properties;
  if (size <= most) {
    scope.runtime[name] = value;
    return;
  }
  delete scope.runtime[name];
  scope.log.warning(
    `The runtime property ${name} is left out: it has ${size} characters, more than max_runtime_property_size`,
  );
}

/** Sensitive outputs are kept in a secret of the instance; the runtime property refers to it. */
function keepSensitive(
  { runtime }: ModuleScope,
  outputs: [string, { value: unknown; sensitive: boolean }][],
): void {
  const values = outputs.filter(([, { sensitive }]) => sensitive).map(([name, { value }]) => [name, value]);
  if (values.length === 0) delete runtime.sensitive_outputs;
  else runtime.sensitive_outputs = Object.fromEntries(values);
}

/** Makes or changes the secrets that keep outputs. */
async function storeSecrets(
  scope: Pick<BaseScope, 'manager'>,
  state: State | null,
  names: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [output, name] of Object.entries(names)) {
    const found = state?.outputs[output];
    if (found === undefined)
      throw new FatalError(`resource_config.store_output_secrets: the module has no output ${output}`);
    const value = typeof found.value === 'string' ? found.value : JSON.stringify(found.value);
    await scope
      .manager()
      .put(`/secrets/${encodeURIComponent(name)}`, { json: { value, update_if_exists: true } });
  }
}

const MAX_TEXT = 100_000;

/** Writes what people want to know of a plan to runtime properties; values that are sensitive are not in it. */
export function keepPlan(scope: ModuleScope, plan: Plan, text: string): void {
  const actions = changesOf(plan).map(({ address, change }) => ({
    address,
    change: { actions: change.actions },
  }));
  setWithin(scope, 'plan', {
    format_version: plan.format_version,
    terraform_version: plan.terraform_version ?? null,
    resource_changes: actions,
    output_changes: Object.fromEntries(
      Object.entries(plan.output_changes).map(([name, change]) => [name, { actions: change?.actions ?? [] }]),
    ),
  });
  scope.runtime.plain_text_plan = text.slice(-MAX_TEXT);
}
