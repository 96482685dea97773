import type { RelationshipType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { ansibleRemoveHost, ansibleRequiresHost } from '../inventory/requires-host';
import { run } from '../playbook/run';
import { cleanup } from '../playbook/stored-config';
import { RELATIONSHIP_INPUTS } from '../settings/schema';

const TASKS = 'ansible.cloudify_ansible.tasks';

const NAMES = {
  group_name: z.string().default('').describe('Group of the host. Default: the type of its node'),
  hostname: z.string().default('').describe('Name of the host. Default: the id of its instance'),
};

/** Puts the target into the inventory of the source. */
export const connectedToHost: RelationshipType = {
  aliases: ['cloudify.ansible.relationships.connected_to_host'],
  description: 'Puts the target into the inventory of the source',
  source: { preconfigure: ansibleRequiresHost, unlink: ansibleRemoveHost },
  inputs: {
    source: {
      preconfigure: z.object({
        ...NAMES,
        host_config: z
          .record(z.string(), z.any())
          .default({})
          .describe('Values of the host, for instance ansible_user. Default: those of the target'),
      }),
      unlink: z.object(NAMES),
    },
  },
  mappings: {
    source: { preconfigure: `${TASKS}.ansible_requires_host`, unlink: `${TASKS}.ansible_remove_host` },
  },
};

/** Runs the playbook of the source on the target. */
export const runOnHost: RelationshipType = {
  aliases: ['cloudify.ansible.relationships.run_on_host'],
  description: 'Runs the playbook of the source on the target',
  source: { establish: run, unlink: cleanup },
  inputs: { source: { establish: RELATIONSHIP_INPUTS } },
  mappings: { source: { establish: `${TASKS}.run`, unlink: `${TASKS}.cleanup` } },
};
