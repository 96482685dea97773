/** Every REST route of the manager. A new resource adds its import and its line; ids must be unique over all routes. */
import { defineRoutes, type RouteContract } from '../route';
import { agentsRoutes } from './agents';
import { auditRoutes } from './audit';
import { blueprintFilterRoutes } from './blueprint-filters';
import { blueprintLabelRoutes } from './blueprint-labels';
import { blueprintRoutes } from './blueprints';
import { brokerRoutes } from './brokers';
import { changesRoutes } from './changes';
import { configRoutes } from './config';
import { contactRoutes } from './contacts';
import { deploymentDriftRoutes } from './deployment-drift';
import { deploymentFiltersRoutes } from './deployment-filters';
import { deploymentGroupsRoutes } from './deployment-groups';
import { deploymentImpactRoutes } from './deployment-impact';
import { deploymentLabelsRoutes } from './deployment-labels';
import { deploymentModificationsRoutes } from './deployment-modifications';
import { deploymentSearchesRoutes } from './deployment-searches';
import { deploymentSummariesRoutes } from './deployment-summaries';
import { deploymentTopologyRoutes } from './deployment-topology';
import { deploymentUpdatesRoutes } from './deployment-updates';
import { deploymentsRoutes } from './deployments';
import { deviceLoginRoutes } from './device-login';
import { doctorRoutes } from './doctor';
import { evaluateFunctionsRoutes } from './evaluate-functions';
import { eventRoutes } from './events';
import { executionGroupRoutes } from './execution-groups';
import { executionScheduleRoutes } from './execution-schedules';
import { executionRoutes } from './executions';
import { identityProviderRoutes } from './identity-providers';
import { bundleRoutes, importRoutes } from './imports';
import { interDeploymentDependenciesRoutes } from './inter-deployment-dependencies';
import { licenseRoutes } from './license';
import { logBundleRoutes } from './log-bundles';
import { loginRoutes } from './login';
import { maintenanceRoutes } from './maintenance';
import { nodeInstanceFilesRoutes } from './node-instance-files';
import { nodeInstancesRoutes } from './node-instances';
import { nodesRoutes } from './nodes';
import { operationRoutes } from './operations';
import { ownUserRoutes } from './own-user';
import { permissionsRoutes } from './permissions';
import { pluginKeyRoutes } from './plugin-keys';
import { pluginRoutes } from './plugins';
import { pluginsUpdatesRoutes } from './plugins-updates';
import { providerContextRoutes } from './provider-context';
import { resourceRoutes } from './resources';
import { rolesRoutes } from './roles';
import { secretRoutes } from './secrets';
import { secretsProviderRoutes } from './secrets-providers';
import { serviceAccountRoutes } from './service-accounts';
import { sessionRoutes } from './session';
import { sitesRoutes } from './sites';
import { snapshotRoutes } from './snapshots';
import { statusRoutes } from './status';
import { tenantsRoutes } from './tenants';
import { tokensRoutes } from './tokens';
import { triggerRoutes } from './triggers';
import { userAccessRoutes } from './user-access';
import { userGroupsRoutes } from './user-groups';
import { usersRoutes } from './users';
import { usesRoutes } from './uses';
import { webhookRoutes } from './webhooks';
import { workerRoutes } from './workers';

export const allRoutes: readonly RouteContract[] = defineRoutes<readonly RouteContract[]>([
  ...agentsRoutes,
  ...auditRoutes,
  ...blueprintFilterRoutes,
  ...blueprintLabelRoutes,
  ...blueprintRoutes,
  ...brokerRoutes,
  ...changesRoutes,
  ...configRoutes,
  ...contactRoutes,
  ...deploymentDriftRoutes,
  ...deploymentFiltersRoutes,
  ...deploymentGroupsRoutes,
  ...deploymentImpactRoutes,
  ...deploymentLabelsRoutes,
  ...deploymentModificationsRoutes,
  ...deploymentSearchesRoutes,
  ...deploymentSummariesRoutes,
  ...deploymentTopologyRoutes,
  ...deploymentUpdatesRoutes,
  ...deploymentsRoutes,
  ...evaluateFunctionsRoutes,
  ...deviceLoginRoutes,
  ...doctorRoutes,
  ...webhookRoutes,
  ...workerRoutes,
  ...eventRoutes,
  ...executionGroupRoutes,
  ...executionScheduleRoutes,
  ...executionRoutes,
  ...identityProviderRoutes,
  ...bundleRoutes,
  ...importRoutes,
  ...interDeploymentDependenciesRoutes,
  ...licenseRoutes,
  ...logBundleRoutes,
  ...loginRoutes,
  ...maintenanceRoutes,
  ...nodeInstancesRoutes,
  ...nodeInstanceFilesRoutes,
  ...nodesRoutes,
  ...operationRoutes,
  ...ownUserRoutes,
  ...permissionsRoutes,
  ...pluginRoutes,
  ...pluginKeyRoutes,
  ...pluginsUpdatesRoutes,
  ...providerContextRoutes,
  ...resourceRoutes,
  ...rolesRoutes,
  ...secretRoutes,
  ...secretsProviderRoutes,
  ...serviceAccountRoutes,
  ...sessionRoutes,
  ...sitesRoutes,
  ...snapshotRoutes,
  ...statusRoutes,
  ...tenantsRoutes,
  ...tokensRoutes,
  ...triggerRoutes,
  ...userAccessRoutes,
  ...userGroupsRoutes,
  ...usersRoutes,
  ...usesRoutes,
]);
