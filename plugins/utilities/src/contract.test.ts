// The contract of all plugins that come with Baton: descriptions, plugin.yaml, crashes and hidden values.
import * as language from '@baton/dsl';
import { checkPlugin, testNode } from '@baton/plugin-sdk/testing';
import plugin from './plugin';
import { type SecretStore, startSecretStore } from './testing/secret-store';

let store: SecretStore;
beforeEach(async () => {
  store = await startSecretStore();
});
afterEach(() => store.close());

it('keys and configurations keep the contract', async () => {
  const { survived } = await checkPlugin(plugin, {
    language,
    samples: {
      'cloudify.nodes.keys.RSAKey': {
        properties: { resource_config: { key_name: 'agent', bits: 1024 } },
        make: (properties) => {
          store.secrets.clear();
          return testNode(plugin, 'cloudify.nodes.keys.RSAKey', { properties });
        },
        order: ['create', 'delete'],
      },
      'cloudify.nodes.CloudInit.CloudConfig': {
        properties: { resource_config: { users: [{ name: 'centos' }] } },
        make: (properties) => testNode(plugin, 'cloudify.nodes.CloudInit.CloudConfig', { properties }),
        order: ['create', 'configure', 'start', 'stop', 'delete'],
      },
    },
  });
  expect(survived).toHaveLength(7);
});
