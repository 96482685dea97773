import { resolved } from '../inventory/kept-secrets';
import { type Place, placeOf } from '../settings/place';
import { type Settings, settingsOf } from '../settings/settings';
import type { TaskScope } from '../settings/task-scope';

/** The place of an operation and its settings, with the secrets that `set_playbook_config` has put away. */
export async function openSettings(scope: TaskScope): Promise<{ place: Place; settings: Settings }> {
  const place = await placeOf(scope.ctx);
  const settings = settingsOf(place, scope.inputs);
  const { run_data, options_config, ansible_env_vars } = settings;
  const values = (await resolved(scope, { run_data, options_config, ansible_env_vars })) as Partial<Settings>;
  return { place, settings: { ...settings, ...values } };
}
