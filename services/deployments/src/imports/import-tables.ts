import type { BlobStore } from '@baton/blob-store';
import type { ImportTables } from '@baton/import-part';
import { agents } from './agents';
import { dependencies } from './dependencies';
import { deployments } from './deployments';
import { exportedRecords } from './exported';
import { deploymentFilters } from './filters';
import { finishDeployments } from './finish';
import { deploymentGroups } from './groups';
import { modifications } from './modifications';
import { nodeInstances } from './node-instances';
import { nodes } from './nodes';
import { activateDeployments } from './quarantine';
import { sites } from './sites';
import { deploymentUpdates, pluginsUpdates } from './updates';
import { keepWorkdirs } from './working-folders';

/** The part of this service in imports of other managers' estates. `blobs` has the archives of working folders. */
export const createImportTables = (blobs: Pick<BlobStore, 'open'>): ImportTables => ({
  importers: [
    sites,
    deployments,
    deploymentGroups,
    nodes,
    nodeInstances,
    agents,
    dependencies,
    deploymentUpdates,
    pluginsUpdates,
    deploymentFilters,
    modifications,
  ],
  async finish(context) {
    await finishDeployments(context);
    await keepWorkdirs(context, blobs);
  },
  activate: async (client, wanted) => ({
    deployments: await activateDeployments(client, wanted),
    schedules: 0,
  }),
  exported: exportedRecords,
});
