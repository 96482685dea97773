import { definePlugin, type Plugin, type PluginOperation } from '@baton/plugin-sdk';
import { deleteBlueprintNode, uploadBlueprintNode } from './blueprint-node';
import { checkDrift, compare } from './component/check-drift';
import { checkStatus } from './component/check-status';
import { create } from './component/create';
import { remove } from './component/delete';
import { executeStart } from './component/execute-start';
import { heal } from './component/heal';
import { refresh } from './component/refresh';
import { update } from './component/update';
import { uploadBlueprint } from './component/upload-blueprint';
import type { CompositionDeps } from './deps';
import { nodeOperation, type Work } from './operation';
import { createPassword, deletePassword, validatePassword } from './password-secret';
import { connect } from './shared-resource/connect';
import { disconnect } from './shared-resource/disconnect';
import { executeWorkflow } from './shared-resource/execute-workflow';
import { checkSharedStatus, refreshShared } from './shared-resource/look';

/** Operations whose errors name the function; errors of the others are shown without it (8.1). */
const NAMING: Readonly<Record<string, Work>> = {
  'component.upload_blueprint': uploadBlueprint,
  'component.create': create,
  'component.execute_start': executeStart,
  'component.delete': remove,
  'component.refresh': refresh,
  'shared_resource.connect_deployment': connect,
  'shared_resource.disconnect_deployment': disconnect,
  'shared_resource.refresh': refreshShared,
  'blueprint.upload': uploadBlueprintNode,
  'blueprint.delete': deleteBlueprintNode,
  'password_secret.create': createPassword,
  'password_secret.delete': deletePassword,
  'password_secret.creation_validation': validatePassword,
};
const PLAIN: Readonly<Record<string, Work>> = {
  'component.check_drift': checkDrift,
  'component.check_status': checkStatus,
  'component.heal': heal,
  'component.update': update,
  'shared_resource.check_drift': compare,
  'shared_resource.check_status': checkSharedStatus,
};

/** The operations behind `cfy_extensions` in the built-in types (reference/workflows.md 8.1 to 8.3). */
export function compositionPlugin(deps: CompositionDeps): Plugin {
  const operations: Record<string, PluginOperation> = {
    'cloudify_types.shared_resource.execute_workflow': executeWorkflow(deps),
  };
  for (const [name, work] of Object.entries(NAMING))
    operations[`cloudify_types.${name}`] = nodeOperation(deps, name.split('.')[1]!, work);
  for (const [name, work] of Object.entries(PLAIN))
    operations[`cloudify_types.${name}`] = nodeOperation(deps, null, work);
  return definePlugin({ name: 'cfy_extensions', operations });
}
