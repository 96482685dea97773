import { nodeType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { install, updateVenv } from '../installation/operations';
import { cleanup } from '../playbook/stored-config';
import { ANSIBLE_PROPERTIES } from '../settings/schema';
import type { TaskScope } from '../settings/task-scope';

const TASKS = 'ansible.cloudify_ansible.tasks';
const list = z.array(z.string()).default([]);

/** Ansible itself. */
export const ansible = nodeType({
  derivedFrom: 'cloudify.nodes.SoftwareComponent',
  description: 'Ansible, installed by pip or as the machine of the worker has it',
  properties: ANSIBLE_PROPERTIES,
  mappings: {
    create: `${TASKS}.install`,
    delete: `${TASKS}.uninstall`,
    update_venv: `${TASKS}.update_venv`,
  },
  create: (scope) => install(scope),
  delete: (scope) => cleanup(scope),
  operations: {
    update_venv: {
      interface: 'ansible',
      inputs: z.object({ extra_packages: list, galaxy_collections: list, roles: list }),
      run: (scope: TaskScope) => updateVenv(scope),
    },
  },
  resumable: ['create', 'delete', 'update_venv'],
});
