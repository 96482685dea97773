import type { Json } from '@baton/kernel';
import { provideBlueprint, removeBlueprint } from './blueprints';
import { deletePlugins, uploadPlugins } from './plugins';
import type { Scope } from './scope';
import { createNodeSecrets, deleteSecrets } from './secrets';
import { blueprintConfigOf } from './settings';
import { STATE } from './state';

/** `create` of a blueprint node: the blueprint, secrets and plugins (reference/workflows.md 8.3). */
export async function uploadBlueprintNode(scope: Scope): Promise<Json> {
  await provideBlueprint(scope, blueprintConfigOf(scope));
  await createNodeSecrets(scope);
  await uploadPlugins(scope);
  return true;
}

/** `delete` of a blueprint node: an external blueprint stays. */
export async function deleteBlueprintNode(scope: Scope): Promise<Json> {
  await removeBlueprint(scope, blueprintConfigOf(scope));
  await deletePlugins(scope);
  await deleteSecrets(scope, scope.manager);
  for (const key of ['blueprint', 'plugins', STATE]) delete scope.instance.runtimeProperties[key];
  return true;
}
