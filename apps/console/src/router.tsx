/** Routes of the console: /ui/{tenant}/... The code of a screen is loaded when the screen is first shown. */
import { createRoute, createRouter, lazyRouteComponent, Navigate } from '@tanstack/react-router';
import { adminRoutes } from './admin/admin-routes';
import { readBlueprintSearch } from './blueprints/blueprint-search';
import { readBlueprintTabSearch } from './blueprints/blueprint-tab-search';
import { readDeploySearch } from './deploy/deploy-search';
import { readDeploymentSearch } from './deployments/deployment-search';
import { readEditorSearch } from './editor/editor-search';
import { readEventSearch } from './events/event-search';
import { readLogSearch } from './execution/execution-search';
import { readExecutionListSearch } from './executions/execution-list-search';
import { readReplaySearch } from './replay/replay-search';
import { readScheduleListSearch } from './schedules/schedule-search';
import { parseSearch, readListSearch, stringifySearch } from './search-params';
import { Home } from './shell/home';
import { rootRoute, tenantRoute } from './tenant-route';
import { t } from './text/text';
import { readTopologySearch } from './topology/topology-search';
import { Empty, Loading, ProblemView } from './ui/states';
import { readUpdateSearch } from './update/update-search';
import { webhookRoutes } from './webhooks/webhook-routes';

const homeRoute = createRoute({ getParentRoute: () => rootRoute, path: '/', component: Home });
/** Of no tenant; the gateway leads /device here. */
const deviceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/-/device',
  component: lazyRouteComponent(() => import('./device/device-screen'), 'DeviceScreen'),
});

const overviewRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./overview/overview-screen'), 'OverviewScreen'),
});
const eventsRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/events',
  validateSearch: readEventSearch,
  component: lazyRouteComponent(() => import('./events/events-screen'), 'EventsScreen'),
});
const deploymentsRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/deployments',
  validateSearch: readDeploymentSearch,
  component: lazyRouteComponent(() => import('./deployments/deployments-screen'), 'DeploymentsScreen'),
});
const deployRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/deployments/new',
  validateSearch: readDeploySearch,
  component: lazyRouteComponent(() => import('./deploy/deploy-screen'), 'DeployScreen'),
});
const updateRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/deployments/$id/update',
  validateSearch: readUpdateSearch,
  component: lazyRouteComponent(() => import('./update/update-screen'), 'UpdateScreen'),
});
const deploymentRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/deployments/$id',
  component: () => (
    <Navigate
      from="/$tenant/deployments/$id"
      to="/$tenant/deployments/$id/$tab"
      params={(p) => ({ ...p, tab: 'nodes' })}
      replace
    />
  ),
});
const deploymentTabRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/deployments/$id/$tab',
  validateSearch: (search: Record<string, unknown>) => ({
    ...readTopologySearch(search),
    ...readEventSearch(search),
  }),
  component: lazyRouteComponent(() => import('./deployment/deployment-screen'), 'DeploymentScreen'),
});
const executionsRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/executions',
  validateSearch: readExecutionListSearch,
  component: lazyRouteComponent(() => import('./executions/executions-screen'), 'ExecutionsScreen'),
});
const executionRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/executions/$id',
  component: lazyRouteComponent(() => import('./execution/execution-screen'), 'ExecutionScreen'),
});
const executionTabRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/executions/$id/$tab',
  validateSearch: (search: Record<string, unknown>) => ({
    ...readLogSearch(search),
    ...readReplaySearch(search),
    ...readTopologySearch(search),
  }),
  component: lazyRouteComponent(() => import('./execution/execution-screen'), 'ExecutionScreen'),
});
const secretsRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/secrets',
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import('./resources/secrets/secrets-screen'), 'SecretsScreen'),
});
const secretRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/secrets/$key',
  component: lazyRouteComponent(() => import('./resources/secrets/secret-screen'), 'SecretScreen'),
});
const providersRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/secrets-providers',
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import('./resources/secrets/providers-screen'), 'ProvidersScreen'),
});
const schedulesRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/schedules',
  validateSearch: readScheduleListSearch,
  component: lazyRouteComponent(() => import('./schedules/schedules-screen'), 'SchedulesScreen'),
});
const scheduleRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/schedules/$deployment/$id',
  component: lazyRouteComponent(() => import('./schedules/schedule-screen'), 'ScheduleScreen'),
});
const filtersHomeRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/filters',
  component: () => (
    <Navigate
      from="/$tenant/filters"
      to="/$tenant/filters/$kind"
      params={(p) => ({ ...p, kind: 'deployments' })}
      replace
    />
  ),
});
const filtersRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/filters/$kind',
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import('./resources/filters/filters-screen'), 'FiltersScreen'),
});
const filterRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/filters/$kind/$id',
  component: lazyRouteComponent(() => import('./resources/filters/filter-screen'), 'FilterScreen'),
});
const sitesRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/sites',
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import('./resources/sites/sites-screen'), 'SitesScreen'),
});
const pluginsRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/plugins',
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import('./resources/plugins/plugins-screen'), 'PluginsScreen'),
});
const pluginRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/plugins/$id',
  component: lazyRouteComponent(() => import('./resources/plugins/plugin-screen'), 'PluginScreen'),
});

const blueprintsRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/blueprints',
  validateSearch: readBlueprintSearch,
  component: lazyRouteComponent(() => import('./blueprints/blueprints-screen'), 'BlueprintsScreen'),
});
const blueprintRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/blueprints/$id',
  component: () => (
    <Navigate
      from="/$tenant/blueprints/$id"
      to="/$tenant/blueprints/$id/$tab"
      params={(p) => ({ ...p, tab: 'overview' })}
      replace
    />
  ),
});
const blueprintTabRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/blueprints/$id/$tab',
  validateSearch: readBlueprintTabSearch,
  component: lazyRouteComponent(() => import('./blueprints/blueprint-screen'), 'BlueprintScreen'),
});
const newBlueprintRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/blueprints/new',
  validateSearch: readEditorSearch,
  component: lazyRouteComponent(() => import('./editor/editor-screen'), 'NewBlueprintScreen'),
});
const blueprintEditRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/blueprints/$id/edit',
  validateSearch: readEditorSearch,
  component: lazyRouteComponent(() => import('./editor/editor-screen'), 'EditBlueprintScreen'),
});

const routeTree = rootRoute.addChildren([
  homeRoute,
  deviceRoute,
  tenantRoute.addChildren([
    overviewRoute,
    deploymentsRoute,
    deployRoute,
    deploymentRoute,
    updateRoute,
    deploymentTabRoute,
    executionsRoute,
    executionRoute,
    executionTabRoute,
    eventsRoute,
    ...adminRoutes,
    secretsRoute,
    secretRoute,
    providersRoute,
    schedulesRoute,
    scheduleRoute,
    filtersHomeRoute,
    filtersRoute,
    filterRoute,
    sitesRoute,
    pluginsRoute,
    pluginRoute,
    ...webhookRoutes,
    blueprintsRoute,
    newBlueprintRoute,
    blueprintRoute,
    blueprintEditRoute,
    blueprintTabRoute,
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: '/ui',
  parseSearch,
  stringifySearch,
  defaultPreload: false,
  defaultPendingComponent: Loading,
  defaultErrorComponent: ({ error }) => (
    <ProblemView error={error} onRetry={() => window.location.reload()} />
  ),
  defaultNotFoundComponent: () => <Empty title={t.state.missing} />,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
