import { type BaseScope, nodeType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { drift } from '../playbook/checks';
import { run, storeFacts } from '../playbook/run';
import { cleanup, setPlaybookConfig } from '../playbook/stored-config';
import { OWN_PROPERTIES, PLAYBOOK_PROPERTIES, RUN_INPUTS } from '../settings/schema';
import type { TaskScope } from '../settings/task-scope';

const TASKS = 'ansible.cloudify_ansible.tasks';
const PRECREATE = `${TASKS}.precreate`;
const RUN = `${TASKS}.run`;
const CHECKS = { check_status: `${TASKS}.check_status`, check_drift: `${TASKS}.check_drift` };

/** Operations find their settings by the context. Heal and update give no inputs of a run. */
const withoutInputs = (scope: BaseScope): TaskScope => ({ ...scope, inputs: {} });

/** The checks have mappings of their own. Heal and update run the playbook, which tells when a host cannot be reached. */
const read = (): Record<string, never> => ({});

const reload = {
  interface: 'ansible',
  inputs: RUN_INPUTS,
  run,
};

/** A playbook that runs when the node starts. */
export const executor = nodeType({
  description: 'A playbook that runs when the node starts',
  properties: PLAYBOOK_PROPERTIES.extend(OWN_PROPERTIES),
  inputs: { start: RUN_INPUTS },
  mappings: { precreate: PRECREATE, start: RUN, delete: `${TASKS}.cleanup`, reload: RUN, ...CHECKS },
  precreate: () => null,
  start: run,
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
    ...OWN_PROPERTIES,
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
