import { type DirectOperation, definePlugin } from '@baton/plugin-sdk';
import { description, name, version } from '../package.json';
import { install, updateVenv } from './installation/operations';
import { ansibleRemoveHost, ansibleRequiresHost } from './inventory/requires-host';
import { checkStatus, drift } from './playbook/checks';
import { run, storeFacts } from './playbook/run';
import { cleanup, setPlaybookConfig } from './playbook/stored-config';
import type { TaskScope } from './settings/task-scope';
import { ansible } from './types/ansible-type';
import { executor, playbook } from './types/playbook-types';
import { connectedToHost, runOnHost } from './types/relationships';
import { RELOAD_PARAMETERS, reloadPlaybook, updatePlaybookVenv, VENV_PARAMETERS } from './workflows';

/** The mappings of the original, and those of checks: blueprints use them on nodes of any type. */
const TASKS: Readonly<Record<string, (scope: TaskScope) => unknown>> = {
  run,
  store_facts: storeFacts,
  set_playbook_config: setPlaybookConfig,
  cleanup,
  ansible_requires_host: ansibleRequiresHost,
  ansible_remove_host: ansibleRemoveHost,
  // Ansible is looked for when it is needed.
  precreate: () => null,
  configure: () => null,
  install,
  uninstall: cleanup,
  update_venv: updateVenv,
  check_status: checkStatus,
  check_drift: async (scope) => {
    const found = await drift(scope);
    return found.length === 0 ? null : found;
  },
};

export default definePlugin({
  name,
  version,
  description,
  aliases: ['ansible'],
  types: {
    'cloudify.nodes.ansible.Ansible': ansible,
    'cloudify.nodes.ansible.Executor': executor,
    'cloudify.nodes.ansible.Playbook': playbook,
  },
  relationships: {
    'cloudify.relationships.ansible.connected_to_host': connectedToHost,
    'cloudify.relationships.ansible.run_on_host': runOnHost,
  },
  workflows: {
    reload_ansible_playbook: {
      run: reloadPlaybook,
      mapping: 'ansible.cloudify_ansible.workflows.reload_playbook',
      parameters: RELOAD_PARAMETERS,
      isResumable: true,
    },
    update_playbook_venv: {
      run: updatePlaybookVenv,
      mapping: 'ansible.cloudify_ansible.workflows.update_playbook_venv',
      parameters: VENV_PARAMETERS,
      isResumable: true,
    },
  },
  operations: Object.fromEntries(
    Object.entries(TASKS).map(([task, work]): [string, DirectOperation] => [
      `cloudify_ansible.tasks.${task}`,
      { isResumable: true, run: work },
    ]),
  ),
});
