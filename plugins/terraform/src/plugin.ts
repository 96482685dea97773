import { definePlugin } from '@baton/plugin-sdk';
import { description, name, version } from '../package.json';
import { terraformHost } from './install/host';
import { useHost } from './install/install';
import { terraformModule } from './module/module';
import { workflows } from './workflows/workflows';

export default definePlugin({
  name,
  version,
  description,
  aliases: ['tf'],
  types: {
    'cloudify.nodes.terraform': terraformHost,
    'cloudify.nodes.terraform.Module': terraformModule,
  },
  relationships: {
    'cloudify.relationships.terraform.run_on_host': {
      description: 'The module uses the program of the host',
      aliases: ['cloudify.terraform.relationships.run_on_host'],
      source: { preconfigure: useHost },
      mappings: { source: { preconfigure: 'tf.cloudify_tf.tasks.set_directory_config' } },
      resumable: ['source.preconfigure'],
    },
  },
  workflows,
});
