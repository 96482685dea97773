/** Services that take over records, in the order in which an import writes them: the referred before the referring. */
export const IMPORT_ORDER = ['identity', 'secrets', 'catalog', 'deployments', 'executions'] as const;
export type ImportService = (typeof IMPORT_ORDER)[number];

/** Owner of each type of record. */
const OWNERS: Readonly<Record<string, ImportService>> = {
  tenants: 'identity',
  permissions: 'identity',
  user_groups: 'identity',
  users: 'identity',
  secrets_providers: 'secrets',
  secrets: 'secrets',
  plugins: 'catalog',
  blueprints: 'catalog',
  blueprints_filters: 'catalog',
  sites: 'deployments',
  deployments: 'deployments',
  deployment_groups: 'deployments',
  nodes: 'deployments',
  node_instances: 'deployments',
  agents: 'deployments',
  inter_deployment_dependencies: 'deployments',
  deployment_updates: 'deployments',
  plugins_update: 'deployments',
  deployments_filters: 'deployments',
  deployment_modifications: 'deployments',
  executions: 'executions',
  execution_groups: 'executions',
  events: 'executions',
  tasks_graphs: 'executions',
  execution_schedules: 'executions',
};

/** @throws Error for a type that the readers do not have: a fault of this program */
export function ownerOf(type: string): ImportService {
  const owner = OWNERS[type];
  if (!owner) throw new Error(`no service owns records of type ${type}`);
  return owner;
}
