// The contract of all plugins that come with Baton: descriptions, plugin.yaml, crashes and hidden values. Operations of modules run in
// apply.int.test.ts, since a life of terraform for each of their crashes takes minutes.
import * as language from '@baton/dsl';
import { checkPlugin, testNode } from '@baton/plugin-sdk/testing';
import plugin from './plugin';
import { standIn } from './testing/binaries';

it('modules and hosts keep the contract', async () => {
  const { survived, withoutSample } = await checkPlugin(plugin, {
    language,
    samples: {
      'cloudify.nodes.terraform': {
        properties: {
          terraform_config: { executable_path: standIn },
          resource_config: { use_existing_resource: true },
        },
        make: (properties) => testNode(plugin, 'cloudify.nodes.terraform', { properties }),
        order: ['create', 'delete'],
      },
    },
  });
  expect(survived).toHaveLength(2);
  expect(withoutSample).toEqual(['cloudify.nodes.terraform.Module']);
});
