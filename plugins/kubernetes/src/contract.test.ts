// The contract of all plugins that come with Baton: descriptions, plugin.yaml, crashes and hidden values.
import * as language from '@baton/dsl';
import { checkPlugin } from '@baton/plugin-sdk/testing';
import plugin from './plugin';
import { deployment, testCluster } from './testing/cluster';

const cluster = testCluster();
const RESOURCES = 'cloudify.nodes.kubernetes.resources';
const ORDER = ['create', 'poststart', 'check_status', 'check_drift', 'update', 'pull', 'delete'];

it('resources and shared clusters keep the contract', async () => {
  const definition = deployment('contract', 'nginx:1.25');
  const { survived } = await checkPlugin(plugin, {
    language,
    samples: {
      [`${RESOURCES}.BlueprintDefinedResource`]: {
        properties: { definition, validate_resource_status: true },
        make: (properties) => cluster.node('BlueprintDefinedResource', properties),
        order: ORDER,
        hidden: [cluster.double.token],
      },
      [`${RESOURCES}.FileDefinedResource`]: {
        properties: { file: { resource_path: 'a.yaml' } },
        make: (properties) =>
          cluster.node('FileDefinedResource', properties, {
            'a.yaml': JSON.stringify(deployment('in-file', 'nginx:1.25')),
          }),
        order: ORDER,
        hidden: [cluster.double.token],
      },
    },
  });
  expect(survived).toEqual(expect.arrayContaining([`${RESOURCES}.FileDefinedResource.create`]));
});
