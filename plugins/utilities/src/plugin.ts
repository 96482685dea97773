import { definePlugin } from '@baton/plugin-sdk';
import { description, name, version } from '../package.json';
import { batchDeploy, batchDeployAndInstall, batchInstall } from './batch/batch';
import { cloudConfig } from './cloud-init/cloud-config';
import { loadFromConfig } from './configuration/load-from-config';
import { configurationLoader } from './configuration/loader';
import { configurationUpdate } from './configuration/update-workflow';
import { customWorkflow } from './custom-workflow/custom-workflow';
import { logInputs } from './custom-workflow/log-inputs';
import { deploymentProxy, nodeInstanceProxy } from './deployment-proxy/deployment-proxy';
import { file } from './files/file';
import { backup, removeBackup, restore, resume, statistics, suspend } from './freeze/workflows';
import { ftpFiles } from './ftp/ftp-files';
import { hookRunWorkflow } from './hooks/run-workflow';
import { rsaKey } from './keys/rsa-key';
import { listItem, reserveListItem, resourceList } from './resources/list';
import { executeAsRelationship } from './rest/as-relationship';
import { bunchRequests } from './rest/bunch';
import { restObject } from './rest/object';
import { requests } from './rest/requests';
import { oneOperationWorkflows } from './rollback/one-operation';
import { rollback } from './rollback/rollback';
import { scaleDownList, scaleUpList, updateOperationFiltered } from './scale-list/workflows';
import { secretsReader } from './secrets/reader';
import { secretsWriter } from './secrets/writer';
import { rawTerminal } from './terminal/raw-terminal';

export default definePlugin({
  name,
  version,
  description,
  aliases: [
    ...[
      'keys',
      'cloudinit',
      'terminal',
      'cfy_ftp',
      'rest',
      'secrets',
      'configuration',
      'cfy_files',
      'cfy_util',
      'resources',
    ],
    ...[
      'suspend',
      'scalelist',
      'lifecycle_operations',
      'cloudify_custom_workflow',
      'cloudify_hooks_workflow',
    ],
  ],
  types: {
    'cloudify.nodes.keys.RSAKey': rsaKey,
    'cloudify.nodes.CloudInit.CloudConfig': cloudConfig,
    'cloudify.nodes.rest.Requests': requests,
    'cloudify.nodes.rest.BunchRequests': bunchRequests,
    'cloudify.nodes.rest.Object': restObject,
    'cloudify.nodes.terminal.Raw': rawTerminal,
    'cloudify.nodes.ftp': ftpFiles,
    'cloudify.nodes.ConfigurationLoader': configurationLoader,
    'cloudify.nodes.File': file,
    'cloudify.nodes.secrets.Writer': secretsWriter,
    'cloudify.nodes.secrets.Reader': secretsReader,
    'cloudify.nodes.resources.List': resourceList,
    'cloudify.nodes.resources.ListItem': listItem,
    'cloudify.nodes.DeploymentProxy': deploymentProxy,
    'cloudify.nodes.NodeInstanceProxy': nodeInstanceProxy,
  },
  relationships: {
    'cloudify.relationships.load_from_config': loadFromConfig,
    'cloudify.relationships.resources.reserve_list_item': reserveListItem,
  },
  operations: {
    'cloudify_rest.tasks.execute_as_relationship': executeAsRelationship,
    'cloudify_custom_workflow.tasks.log': logInputs,
  },
  workflows: {
    configuration_update: configurationUpdate,
    suspend,
    resume,
    statistics,
    backup,
    restore,
    remove_backup: removeBackup,
    scaleuplist: scaleUpList,
    scaledownlist: scaleDownList,
    update_operation_filtered: updateOperationFiltered,
    hook_workflow_run_filtered: hookRunWorkflow,
    ...oneOperationWorkflows,
    rollback_deprecated: rollback,
    customwf: customWorkflow,
    batch_deploy_and_install: batchDeployAndInstall,
    batch_deploy: batchDeploy,
    batch_install: batchInstall,
  },
});
