import { nodeType } from '@baton/plugin-sdk';
import { once } from '../once';
import { createKey } from './create-key';
import { deleteKey } from './delete-key';
import { CREATE_INPUTS, PROPERTIES, RUNTIME } from './schema';

/** A pair of RSA keys for logins over SSH, kept in secrets of the manager, in files, or in runtime properties. */
export const rsaKey = nodeType({
  aliases: ['cloudify.keys.nodes.RSAKey'],
  description: 'A pair of RSA keys, kept in secrets, files or runtime properties',
  properties: PROPERTIES,
  runtime: RUNTIME,
  inputs: { create: CREATE_INPUTS },
  mappings: {
    create: 'keys.cloudify_ssh_key.operations.create',
    delete: 'keys.cloudify_ssh_key.operations.delete',
  },
  async create(scope) {
    await createKey(scope);
  },
  async delete(scope) {
    await once(scope, () => deleteKey(scope));
  },
  resumable: ['create', 'delete'],
});
