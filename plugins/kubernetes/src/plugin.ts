import { definePlugin } from '@baton/plugin-sdk';
import { description, name, version } from '../package.json';
import { master } from './types/master';
import {
  blueprintDefinedResource,
  customBlueprintDefinedResource,
  customObject,
  fileDefinedResource,
  kindTypes,
  multipleFileDefinedResources,
  resourceBase,
  resourceWithValidateStatus,
} from './types/resource-types';
import { sharedCluster } from './types/shared-cluster';
import { updateResourceDefinition } from './workflows/update-definition';

const RESOURCES = 'cloudify.nodes.kubernetes.resources';

export default definePlugin({
  name,
  version,
  description,
  aliases: ['kubernetes'],
  types: {
    'cloudify.nodes.kubernetes.Master': master,
    [`${RESOURCES}.ResourceBase`]: resourceBase,
    [`${RESOURCES}.ResourceWithValidateStatus`]: resourceWithValidateStatus,
    [`${RESOURCES}.BlueprintDefinedResource`]: blueprintDefinedResource,
    ...kindTypes,
    [`${RESOURCES}.CustomObject`]: customObject,
    [`${RESOURCES}.CustomBlueprintDefinedResource`]: customBlueprintDefinedResource,
    [`${RESOURCES}.FileDefinedResource`]: fileDefinedResource,
    [`${RESOURCES}.MultipleFileDefinedResources`]: multipleFileDefinedResources,
    [`${RESOURCES}.SharedCluster`]: sharedCluster,
  },
  relationships: {
    'cloudify.relationships.kubernetes.managed_by_master': {
      aliases: ['cloudify.kubernetes.relationships.managed_by_master'],
    },
    'cloudify.relationships.kubernetes.connected_to_shared_cluster': {},
  },
  workflows: { update_resource_definition: updateResourceDefinition },
});
