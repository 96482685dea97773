/** Every REST route of the manager. A new resource adds its import and its line; ids must be unique over all of them. */
import { defineRoutes, type RouteContract } from '../route';
import { agentsRoutes } from './agents';
import { auditRoutes } from './audit';
import { blueprintFilterRoutes } from './blueprint-filters';
import { blueprintLabelRoutes } from './blueprint-labels';
import { blueprintRoutes } from './blueprints';
import { brokerRoutes } from './brokers';
import { configRoutes } from './config';
import { contactRoutes } from './contacts';
import { deploymentFiltersRoutes } from './deployment-filters';
import { deploymentGroupsRoutes } from './deployment-groups';
import { deploymentLabelsRoutes } from './deployment-labels';
import { deploymentModificationsRoutes } from './deployment-modifications';
import { deploymentSearchesRoutes } from './deployment-searches';
import { deploymentSummariesRoutes } from './deployment-summaries';
import { deploymentUpdatesRoutes } from './deployment-updates';
import { deploymentsRoutes } from './deployments';
import { doctorRoutes } from './doctor';
import { evaluateFunctionsRoutes } from './evaluate-functions';
import { eventRoutes } from './events';
import { executionGroupRoutes } from './execution-groups';
import { executionScheduleRoutes } from './execution-schedules';
import { executionRoutes } from './executions';
import { interDeploymentDependenciesRoutes } from './inter-deployment-dependencies';
import { licenseRoutes } from './license';
import { logBundleRoutes } from './log-bundles';
import { maintenanceRoutes } from './maintenance';
import { nodeInstancesRoutes } from './node-instances';
import { nodesRoutes } from './nodes';
import { operationRoutes } from './operations';
import { permissionsRoutes } from './permissions';
import { pluginRoutes } from './plugins';
import { pluginsUpdatesRoutes } from './plugins-updates';
import { providerContextRoutes } from './provider-context';
import { resourceRoutes } from './resources';
import { rolesRoutes } from './roles';
import { secretRoutes } from './secrets';
import { secretsProviderRoutes } from './secrets-providers';
import { sitesRoutes } from './sites';
import { snapshotRoutes } from './snapshots';
import { statusRoutes } from './status';
import { tenantsRoutes } from './tenants';
import { tokensRoutes } from './tokens';
import { userGroupsRoutes } from './user-groups';
import { usersRoutes } from './users';
import { workerRoutes } from './workers';

export const allRoutes: readonly RouteContract[] = defineRoutes<readonly RouteContract[]>([
  ...agentsRoutes,
  ...auditRoutes,
  ...blueprintFilterRoutes,
  ...blueprintLabelRoutes,
  ...blueprintRoutes,
  ...brokerRoutes,
  ...configRoutes,
  ...contactRoutes,
  ...deploymentFiltersRoutes,
  ...deploymentGroupsRoutes,
  ...deploymentLabelsRoutes,
  ...deploymentModificationsRoutes,
  ...deploymentSearchesRoutes,
  ...deploymentSummariesRoutes,
  ...deploymentUpdatesRoutes,
  ...deploymentsRoutes,
  ...evaluateFunctionsRoutes,
  ...doctorRoutes,
  ...workerRoutes,
  ...eventRoutes,
  ...executionGroupRoutes,
  ...executionScheduleRoutes,
  ...executionRoutes,
  ...interDeploymentDependenciesRoutes,
  ...licenseRoutes,
  ...logBundleRoutes,
  ...maintenanceRoutes,
  ...nodeInstancesRoutes,
  ...nodesRoutes,
  ...operationRoutes,
  ...permissionsRoutes,
  ...pluginRoutes,
  ...pluginsUpdatesRoutes,
  ...providerContextRoutes,
  ...resourceRoutes,
  ...rolesRoutes,
  ...secretRoutes,
  ...secretsProviderRoutes,
  ...sitesRoutes,
  ...snapshotRoutes,
  ...statusRoutes,
  ...tenantsRoutes,
  ...tokensRoutes,
  ...userGroupsRoutes,
  ...usersRoutes,
]);
