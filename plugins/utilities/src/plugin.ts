import { definePlugin } from '@baton/plugin-sdk';
import { description, name, version } from '../package.json';
import { cloudConfig } from './cloud-init/cloud-config';
import { ftpFiles } from './ftp/ftp-files';
import { rsaKey } from './keys/rsa-key';
import { rawTerminal } from './terminal/raw-terminal';

export default definePlugin({
  name,
  version,
  description,
  aliases: ['keys', 'cloudinit', 'terminal', 'cfy_ftp'],
  types: {
    'cloudify.nodes.keys.RSAKey': rsaKey,
    'cloudify.nodes.CloudInit.CloudConfig': cloudConfig,
    'cloudify.nodes.terminal.Raw': rawTerminal,
    'cloudify.nodes.ftp': ftpFiles,
  },
});
