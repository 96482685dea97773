import { type BaseScope, type MappedScope, nodeType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { checkStatus, drift } from '../playbook/checks';
import { run, storeFacts } from '../playbook/run';
import { cleanup, setPlaybookConfig } from '../playbook/stored-config';
import { PLAYBOOK_PROPERTIES, RUN_INPUTS } from '../settings/schema';

const TASKS = 'ansible.cloudify_ansible.tasks';
const PRECREATE = `${TASKS}.precreate`;
const RUN = `${TASKS}.run`;
const CHECKS = { check_status: `${TASKS}.check_status`, check_drift: `${TASKS}.check_drift` };

/** Operations find their settings by the context. Heal and update give no inputs of a run. */
const withoutInputs = (scope: BaseScope): MappedScope => ({ ...scope, inputs: {} });

const read = async (scope: BaseScope): Promise<Record<string, never>> => {
  await checkStatus(withoutInputs(scope));
  return {};
};

const reload = {
  interface: 'ansible',
  inputs: RUN_INPUTS,
  run: (scope: BaseScope & { inputs: unknown }) => run(scope as MappedScope),
};

/** A playbook that runs when the node starts. */
export const executor = nodeType({
  description: 'A playbook that runs when the node starts',
  properties: PLAYBOOK_PROPERTIES,
  inputs: { start: RUN_INPUTS },
  mappings: { precreate: PRECREATE, start: RUN, delete: `${TASKS}.cleanup`, reload: RUN, ...CHECKS },
  precreate: () => null,
  start: (scope) => run(scope),
  delete: (scope) => cleanup(scope),
  read,
  drift: (scope) => drift(withoutInputs(scope)),
  update: (scope) => run(withoutInputs(scope)),
  operations: { reload },
  resumable: ['precreate', 'start', 'delete', 'update', 'reload'],
});

/** A playbook that runs on the targets of relationships run_on_host. */
export const playbook = nodeType({
  description: 'A playbook that runs on the targets of its relationships run_on_host',
  properties: PLAYBOOK_PROPERTIES.extend({
    kerberos_config: z.string().optional().describe('Text of a krb5.conf, or a file of the blueprint'),
  }),
  inputs: { start: RUN_INPUTS, poststart: RUN_INPUTS },
  mappings: {
    precreate: PRECREATE,
    configure: `${TASKS}.configure`,
    start: `${TASKS}.set_playbook_config`,
    poststart: `${TASKS}.store_facts`,
    reload: RUN,
    ...CHECKS,
  },
  precreate: () => null,
  configure: () => null,
  start: (scope) => setPlaybookConfig(scope),
  poststart: (scope) => storeFacts(scope),
  read,
  drift: (scope) => drift(withoutInputs(scope)),
  update: (scope) => run(withoutInputs(scope)),
  operations: { reload },
  resumable: ['precreate', 'configure', 'start', 'poststart', 'update', 'reload'],
});
