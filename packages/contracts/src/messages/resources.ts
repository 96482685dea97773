import { defineMessage } from '../message';
import { resourceChanges } from '../resource-changes';

/** Deployments were created, changed or deleted, or the data that they show changed. */
export const deploymentResourcesChanged = defineMessage(
  'deployments.resources-changed.v1',
  'fanout',
  resourceChanges,
);

/** Blueprints or plugins were uploaded, changed or deleted. */
export const catalogResourcesChanged = defineMessage(
  'catalog.resources-changed.v1',
  'fanout',
  resourceChanges,
);

/** Executions were deleted; events-appended reports their changes. */
export const executionResourcesChanged = defineMessage(
  'executions.resources-changed.v1',
  'fanout',
  resourceChanges,
);
