import type { OperationId } from '@baton/client';

/** One kind of object of a manager, as the recorder reads it and the verifier asks for it. */
export interface Kind {
  /** Its name in recordings, in the list of allowed differences and in reports. */
  what: string;
  list: OperationId;
  /** Fields that identify an object within its tenant, the most telling last. */
  key: readonly string[];
  scope: 'manager' | 'tenant';
  /** Objects of a deployment name it in this field. */
  deploymentField?: 'id' | 'deployment_id' | 'source_deployment_id';
  query?: Record<string, string | boolean>;
  /** Objects of a page; small where objects are large. */
  pageSize: number;
  /** Fields that are never recorded: credentials, and what an import compares itself. */
  dropped?: readonly string[];
  /** The verifier asks for named objects only, because there may be very many. */
  isAskedByKey?: true;
}

const tenantKind = (what: string, list: OperationId, more: Partial<Kind> = {}): Kind => ({
  what,
  list,
  key: ['id'],
  scope: 'tenant',
  pageSize: 500,
  ...more,
});
const ofDeployment = (what: string, list: OperationId, more: Partial<Kind> = {}): Kind =>
  tenantKind(what, list, { deploymentField: 'deployment_id', ...more });

/** All kinds, in the order in which they are recorded: what later ones refer to comes first. */
export const KINDS: readonly Kind[] = [
  { what: 'tenants', list: 'listTenants', key: ['name'], scope: 'manager', pageSize: 500 },
  {
    what: 'users',
    list: 'listUsers',
    key: ['username'],
    scope: 'manager',
    query: { _get_data: true },
    pageSize: 200,
    dropped: ['password_hash', 'api_token', 'token'],
  },
  {
    what: 'user_groups',
    list: 'listUserGroups',
    key: ['name'],
    scope: 'manager',
    query: { _get_data: true },
    pageSize: 200,
  },
  tenantKind('sites', 'listSites', { key: ['name'] }),
  tenantKind('plugins', 'listPlugins'),
  tenantKind('secrets_providers', 'listSecretsProviders', {
    key: ['name'],
    dropped: ['connection_parameters'],
  }),
  tenantKind('secrets', 'listSecrets', { key: ['key'], dropped: ['value', 'provider_options'] }),
  tenantKind('blueprints', 'listBlueprints', { pageSize: 50, dropped: ['plan'], isAskedByKey: true }),
  tenantKind('deployments', 'listDeployments', {
    deploymentField: 'id',
    pageSize: 200,
    isAskedByKey: true,
  }),
  tenantKind('deployment_groups', 'listDeploymentGroups'),
  ofDeployment('nodes', 'listNodes', { key: ['deployment_id', 'id'], pageSize: 200, isAskedByKey: true }),
  ofDeployment('node_instances', 'listNodeInstances', { isAskedByKey: true }),
  ofDeployment('agents', 'listAgents', {
    key: ['id'],
    deploymentField: undefined,
    dropped: ['rabbitmq_username', 'rabbitmq_password', 'rabbitmq_exchange'],
  }),
  tenantKind('inter_deployment_dependencies', 'listInterDeploymentDependencies', {
    deploymentField: 'source_deployment_id',
  }),
  ofDeployment('executions', 'listExecutions', {
    query: { _include_system_workflows: true },
    dropped: ['token'],
    isAskedByKey: true,
  }),
  tenantKind('execution_groups', 'listExecutionGroups'),
  ofDeployment('execution_schedules', 'listExecutionSchedules', { key: ['deployment_id', 'id'] }),
  ofDeployment('deployment_updates', 'listDeploymentUpdates', { pageSize: 50 }),
  tenantKind('plugins_updates', 'listPluginsUpdates'),
  ofDeployment('deployment_modifications', 'listDeploymentModifications', { pageSize: 50 }),
  tenantKind('deployment_filters', 'listDeploymentFilters'),
  tenantKind('blueprint_filters', 'listBlueprintFilters'),
];

/** What is asked for each deployment. */
export const ANSWERS = [
  { what: 'outputs', get: 'getDeploymentOutputs' },
  { what: 'capabilities', get: 'getDeploymentCapabilities' },
] as const;

/** Of events and log lines only the number is recorded. */
export const EVENTS = 'events';

/** Operations that a walk through a manager needs. */
export const WALKED = [
  'getVersion',
  'listEvents',
  'getDeploymentOutputs',
  'getDeploymentCapabilities',
  'listTenants',
  'listUsers',
  'listUserGroups',
  'listSites',
  'listPlugins',
  'listSecretsProviders',
  'listSecrets',
  'listBlueprints',
  'listDeployments',
  'listDeploymentGroups',
  'listNodes',
  'listNodeInstances',
  'listAgents',
  'listInterDeploymentDependencies',
  'listExecutions',
  'listExecutionGroups',
  'listExecutionSchedules',
  'listDeploymentUpdates',
  'listPluginsUpdates',
  'listDeploymentModifications',
  'listDeploymentFilters',
  'listBlueprintFilters',
] as const satisfies OperationId[];

export const kindOf = (what: string): Kind | undefined => KINDS.find((kind) => kind.what === what);

/** The key of an object as text: `deployment/node`. */
export const keyOf = (kind: Kind, item: Record<string, unknown>): string =>
  kind.key.map((field) => String(item[field] ?? '')).join('/');
