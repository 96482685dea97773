import { FatalError } from '@baton/plugin-sdk';
import type { Backend, ModuleScope } from '../module/schema';
import { FILES } from '../state/state-keeper';
import { statePath } from '../workspace/state-path';
import { inWorkspace } from '../workspace/workspace';
import { writeBackend } from '../workspace/written-files';
import { keepSettings, keepState } from './keep-results';

/**
 * Moves the state to another backend: inputs `backend` (name, options) and `backend_config`, which is added to the options. Both go to
 * terraform in a file, never on the command line. A state that has left the manager is removed from its files afterwards.
 */
export async function migrateState(scope: ModuleScope): Promise<void> {
  const backend = backendOf(scope);
  scope.hide(Object.values((scope.inputs.backend_config as object | undefined) ?? {}));
  let hasLeft = false;
  // The module is opened with the backend that it has; the new one counts from here on.
  const before = { ...scope, inputs: { ...scope.inputs, backend: undefined } } as ModuleScope;
  await inWorkspace(before, { state: 'writes' }, async (workspace) => {
    const { folder, terraform } = workspace;
    await writeBackend(folder, backend);
    await terraform.run(['init', '-no-color', '-input=false', '-migrate-state', '-force-copy']);
    hasLeft = (await statePath(folder)) === null;
    await keepState(scope, workspace);
    await keepSettings({ ...scope, inputs: { backend } } as ModuleScope, workspace);
  });
  if (hasLeft) await scope.files.remove(FILES.state);
}

function backendOf({ inputs }: ModuleScope): Backend {
  const { backend, backend_config: config = {} } = inputs as { backend?: Backend; backend_config?: unknown };
  if (typeof backend?.name !== 'string' || backend.name === '')
    throw new FatalError('inputs.backend: expected a dictionary with the name of a backend');
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw new FatalError('inputs.backend_config: expected a dictionary');
  return { name: backend.name, options: { ...backend.options, ...config } };
}
