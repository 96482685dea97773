import { forgetSecrets, withReferences } from '../inventory/kept-secrets';
import { keep, placeOf } from '../settings/place';
import { PLAYBOOK_PROPERTIES } from '../settings/schema';
import type { TaskScope } from '../settings/task-scope';

/**
 * Keeps the inputs as runtime properties, where `run_on_host` takes them from (ansible.cloudify_ansible.tasks.set_playbook_config).
 * Sensitive values become secrets of the tenant. An input without a value leaves what is there: `sources` may be what relationships
 * have collected.
 */
export async function setPlaybookConfig(scope: TaskScope): Promise<void> {
  const { instance } = await placeOf(scope.ctx);
  const { sensitive_keys: given } = scope.inputs;
  const keys = Array.isArray(given) ? given.map(String) : [];
  const names = Object.keys(PLAYBOOK_PROPERTIES.shape);
  for (const [name, value] of Object.entries(scope.inputs)) {
    if (value === null || value === '' || !names.includes(name)) continue;
    keep(instance, { [name]: await withReferences(scope, { instance }, value, name, keys) });
  }
}

/** Removes all runtime properties, and the secrets that they refer to (ansible.cloudify_ansible.tasks.cleanup). */
export async function cleanup(scope: TaskScope): Promise<void> {
  const { instance } = await placeOf(scope.ctx);
  await forgetSecrets(scope, { instance });
  instance.runtimeProperties = {};
}
