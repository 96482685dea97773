import { definePlugin } from '@baton/plugin-sdk';
import { description, name, version } from '../package.json';
import { cloudConfig } from './cloud-init/cloud-config';
import { rsaKey } from './keys/rsa-key';

export default definePlugin({
  name,
  version,
  description,
  aliases: ['keys', 'cloudinit'],
  types: {
    'cloudify.nodes.keys.RSAKey': rsaKey,
    'cloudify.nodes.CloudInit.CloudConfig': cloudConfig,
  },
});
