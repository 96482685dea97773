import type { ImportTables } from '@baton/import-part';
import { deployments } from './deployments';
import { finishDeployments } from './finish';
import { nodeInstances } from './node-instances';
import { nodes } from './nodes';
import { activateDeployments } from './quarantine';
import { sites } from './sites';

/** The part of this service in imports of other managers' estates. */
export const importTables: ImportTables = {
  importers: [sites, deployments, nodes, nodeInstances],
  finish: finishDeployments,
  activate: async (client, wanted) => ({
    deployments: await activateDeployments(client, wanted),
    schedules: 0,
  }),
};
