import { definePlugin } from '@baton/plugin-sdk';
import { description, name, version } from '../package.json';
import { ansibleRemoveHost, ansibleRequiresHost } from './inventory/requires-host';
import { checkStatus, drift } from './playbook/checks';
import { run, storeFacts } from './playbook/run';
import { cleanup, setPlaybookConfig } from './playbook/stored-config';

export default definePlugin({
  name,
  version,
  description,
  aliases: ['ansible'],
  types: {},
  operations: {
    'cloudify_ansible.tasks.run': { resumable: true, run },
    'cloudify_ansible.tasks.store_facts': { resumable: true, run: storeFacts },
    'cloudify_ansible.tasks.ansible_requires_host': { resumable: true, run: ansibleRequiresHost },
    'cloudify_ansible.tasks.ansible_remove_host': { resumable: true, run: ansibleRemoveHost },
    'cloudify_ansible.tasks.set_playbook_config': { resumable: true, run: setPlaybookConfig },
    'cloudify_ansible.tasks.cleanup': { resumable: true, run: cleanup },
    'cloudify_ansible.tasks.check_drift': {
      resumable: true,
      run: async (scope) => nullOf(await drift(scope)),
    },
    'cloudify_ansible.tasks.check_status': { resumable: true, run: checkStatus },
  },
});

const nullOf = (list: readonly unknown[]): unknown => (list.length === 0 ? null : list);
