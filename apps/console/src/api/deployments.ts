/** Reads deployments. Every list request names the fields it needs and the number of rows. */
import type { Client, Schemas } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { type ApiQuery, PAGE_SIZE, pageOf } from './pages';

/** Maximum of nodes, instances and executions read per deployment; screens tell when there are more. */
const PART_SIZE = 500;

const ROW_FIELDS = [
  'id',
  'display_name',
  'blueprint_id',
  'created_at',
  'installation_status',
  'deployment_status',
  'sub_services_count',
  'sub_environments_count',
  'latest_execution',
  'latest_execution_status',
  'latest_execution_workflow_id',
  'latest_execution_total_operations',
  'latest_execution_finished_operations',
  'drifted_instances',
  'unavailable_instances',
] as const;
const DETAIL_FIELDS = [
  ...ROW_FIELDS,
  'description',
  'created_by',
  'updated_at',
  'site_name',
  'labels',
  'inputs',
  'workflows',
  'visibility',
  'deployment_groups',
] as const;

export type DeploymentRow = Pick<Schemas['Deployment'], (typeof ROW_FIELDS)[number]>;
export type DeploymentDetail = Pick<Schemas['Deployment'], (typeof DETAIL_FIELDS)[number]>;
export type DeploymentWorkflow = Schemas['DeploymentWorkflow'];
export type NodeInstance = Pick<
  Schemas['NodeInstance'],
  | 'id'
  | 'node_id'
  | 'host_id'
  | 'index'
  | 'state'
  | 'runtime_properties'
  | 'relationships'
  | 'is_status_check_ok'
  | 'has_configuration_drift'
  | 'system_properties'
>;
export type PlanNode = Pick<
  Schemas['Node'],
  | 'id'
  | 'type'
  | 'host_id'
  | 'number_of_instances'
  | 'relationships'
  | 'drifted_instances'
  | 'unavailable_instances'
>;

/** Keys begin with the kind and the tenant, so that the stream of changes can find the affected queries. */
export const deploymentKeys = {
  lists: (tenant: string) => ['deployments', tenant] as const,
  pages: (tenant: string) => ['deployments', tenant, 'page'] as const,
  one: (tenant: string, id: string) => ['deployment', tenant, id] as const,
};

export const deploymentPageQuery = (client: Client, tenant: string, query: ApiQuery, offset: number) =>
  queryOptions({
    queryKey: [...deploymentKeys.pages(tenant), query, offset] as readonly unknown[],
    queryFn: async ({ signal }) =>
      pageOf<DeploymentRow>(
        await client.call('listDeployments', {
          tenant,
          signal,
          query: { ...query, _include: ROW_FIELDS.join(','), _size: PAGE_SIZE, _offset: offset },
        }),
      ),
  });

/** Reads the current rows of these ids. Deleted deployments are missing from the result. */
export const readDeploymentRows = async (
  client: Client,
  tenant: string,
  ids: string[],
): Promise<DeploymentRow[]> =>
  pageOf<DeploymentRow>(
    await client.call('listDeployments', {
      tenant,
      query: { id: ids, _include: ROW_FIELDS.join(','), _size: ids.length },
    }),
  ).items;

/** Number of deployments per status, with all other filters applied. */
export const deploymentCountsQuery = (client: Client, tenant: string, query: ApiQuery) =>
  queryOptions({
    queryKey: [...deploymentKeys.lists(tenant), 'counts', query],
    queryFn: async ({ signal }) => {
      const { items } = await client.call('summarizeDeployments', {
        tenant,
        signal,
        query: { ...query, _target_field: 'deployment_status', _size: 10 },
      });
      return Object.fromEntries(
        items.map((item) => [String(item.deployment_status), Number(item.deployments)]),
      ) as Record<string, number>;
    },
  });

/** Names of blueprints for the filter. */
export const blueprintNamesQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: ['blueprints', tenant, 'names'],
    queryFn: async ({ signal }) =>
      (
        await client.call('listBlueprints', {
          tenant,
          signal,
          query: { _include: 'id', _size: 200, _sort: 'id' },
        })
      ).items.map(({ id }) => id),
    staleTime: 60_000,
  });

export const deploymentQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [...deploymentKeys.one(tenant, id), 'detail'],
    queryFn: async ({ signal }): Promise<DeploymentDetail> =>
      await client.call('getDeployment', {
        tenant,
        signal,
        params: { id },
        query: { _include: DETAIL_FIELDS.join(',') },
      }),
  });

export const nodesQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [...deploymentKeys.one(tenant, id), 'nodes'],
    queryFn: async ({ signal }) =>
      pageOf<PlanNode>(
        await client.call('listNodes', {
          tenant,
          signal,
          query: {
            deployment_id: id,
            _include:
              'id,type,host_id,number_of_instances,relationships,drifted_instances,unavailable_instances',
            _size: PART_SIZE,
          },
        }),
      ),
  });

/** Instances of one node; with a drift filter, of all nodes. */
export const instancesQuery = (client: Client, tenant: string, id: string, query: ApiQuery) =>
  queryOptions({
    queryKey: [...deploymentKeys.one(tenant, id), 'instances', query],
    queryFn: async ({ signal }) =>
      pageOf<NodeInstance>(
        await client.call('listNodeInstances', {
          tenant,
          signal,
          query: {
            deployment_id: id,
            ...query,
            _include:
              'id,node_id,host_id,index,state,runtime_properties,relationships,is_status_check_ok,has_configuration_drift,system_properties',
            _size: 100,
          },
        }),
      ),
  });

export const outputsQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [...deploymentKeys.one(tenant, id), 'outputs'],
    queryFn: async ({ signal }) => {
      const [{ outputs }, { capabilities }] = await Promise.all([
        client.call('getDeploymentOutputs', { tenant, signal, params: { id } }),
        client.call('getDeploymentCapabilities', { tenant, signal, params: { id } }),
      ]);
      return { outputs, capabilities };
    },
  });

export const topologyQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [...deploymentKeys.one(tenant, id), 'topology'],
    queryFn: ({ signal }) => client.call('getDeploymentTopology', { tenant, signal, params: { id } }),
  });

export const driftQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [...deploymentKeys.one(tenant, id), 'drift'],
    queryFn: ({ signal }) =>
      client.call('getDeploymentDrift', { tenant, signal, params: { id }, query: { _size: 100 } }),
  });

export const impactQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [...deploymentKeys.one(tenant, id), 'impact'],
    queryFn: ({ signal }) => client.call('getDeploymentImpact', { tenant, signal, params: { id } }),
    staleTime: 0,
  });

/** Workflows that all of these deployments have. */
export const commonWorkflowsQuery = (client: Client, tenant: string, ids: readonly string[]) =>
  queryOptions({
    queryKey: ['workflows', tenant, ids],
    queryFn: async ({ signal }) => {
      const { items } = await client.call('listWorkflows', {
        tenant,
        signal,
        query: { id: [...ids], _common_only: true },
      });
      return items.flatMap(({ name, is_available }) => (name !== null && is_available ? [name] : []));
    },
  });
