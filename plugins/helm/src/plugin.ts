import { definePlugin } from '@baton/plugin-sdk';
import { description, name, version } from '../package.json';
import { binary } from './types/binary';
import { registry } from './types/registry';
import { runOnHost } from './types/relationships';
import { release } from './types/release';
import { repo } from './types/repo';
import { updateRepositories, upgradeReleases } from './workflows/workflows';

export default definePlugin({
  name,
  version,
  description,
  aliases: ['helm'],
  types: {
    'cloudify.nodes.helm.Binary': binary,
    'cloudify.nodes.helm.Repo': repo,
    'cloudify.nodes.helm.Release': release,
    'cloudify.nodes.helm.Registry': registry,
  },
  relationships: {
    'cloudify.helm.relationships.run_on_host': runOnHost,
    'cloudify.relationships.helm.connected_to_shared_cluster': {},
  },
  workflows: { update_repositories: updateRepositories, upgrade_release: upgradeReleases },
});
