import { z } from 'zod';
import { defineRoutes } from '../route';
import { envelope, instant, jsonObject } from './shapes';

/** Version (spec v3.1 part 2 "Version", reference/rest-api.md 5.26). */
const version = z
  .object({
    version: z.string(),
    edition: z.string(),
    date: z.string().nullable(),
    commit: z.string().nullable(),
    build: z.string().nullable(),
    distribution: z.string().nullable(),
    distro_release: z.string().nullable(),
  })
  .meta({ id: 'Version' });
const versionFields = Object.keys(version.shape);

const serviceStatus = z.object({ status: z.string(), is_remote: z.boolean(), extra_info: jsonObject });

/** Manager status (spec v3.1 part 2 "Manager status", reference/rest-api.md 8.6). */
const managerStatus = z
  .object({ status: z.string(), services: z.record(z.string(), serviceStatus) })
  .meta({ id: 'ManagerStatus' });
const legacyManagerStatus = z.object({ status: z.literal('running'), services: z.array(jsonObject) });

const clusterGroup = z.object({
  status: z.string(),
  is_external: z.boolean(),
  nodes: z.record(z.string(), jsonObject),
});
/** Cluster status (spec v3.1 part 1 "Cluster status", reference/rest-api.md 8.8). */
const clusterStatus = z
  .object({ status: z.enum(['OK', 'Degraded', 'Fail']), services: z.record(z.string(), clusterGroup) })
  .meta({ id: 'ClusterStatus' });

/** ManagerItem (spec v3.1 part 1). */
const manager = z
  .object({
    id: z.number().int(),
    hostname: z.string(),
    private_ip: z.string(),
    public_ip: z.string(),
    version: z.string(),
    edition: z.string(),
    distribution: z.string(),
    distro_release: z.string(),
    fs_sync_node_id: z.string().nullable(),
    networks: z.record(z.string(), z.string()),
    ca_cert_content: z.string().nullable(),
    last_seen: instant,
    status_report_frequency: z.number(),
  })
  .meta({ id: 'Manager' });
const managerFields = Object.keys(manager.shape);

const named = z.string().min(1).max(256);
export const newManager = z.object({
  hostname: named,
  private_ip: named,
  public_ip: named,
  version: named,
  edition: named,
  distribution: named,
  distro_release: named,
  fs_sync_node_id: z.string().max(256).nullish(),
  networks: z.record(z.string(), z.string()).nullish(),
  ca_cert_content: z.string().max(100_000).nullish(),
});

const common = {
  owner: 'cluster-status',
  tenant: 'optional',
  status: 200,
  isOpenInMaintenance: true,
} as const;
const summary = z.object({ summary: z.string().optional() });

export const statusRoutes = defineRoutes([
  {
    ...common,
    id: 'getOk',
    method: 'GET',
    path: '/ok',
    permission: 'none',
    versions: ['v3.1'],
    summary: 'OK, or FAIL with 500: for load balancers',
    spec: 'reference 5.26',
    responseKind: 'text',
    response: z.string(),
  },
  {
    ...common,
    id: 'getVersion',
    method: 'GET',
    path: '/version',
    permission: 'version_get',
    versions: ['v2.1', 'v3.1'],
    summary: 'Version of the manager',
    spec: 'v3.1-part2 Manager; reference 5.26',
    includeFields: versionFields,
    response: version.partial(),
  },
  {
    ...common,
    id: 'getStatus',
    method: 'GET',
    path: '/status',
    permission: 'status_get',
    versions: ['v2.1', 'v3.1'],
    summary: 'Status of the services of the manager',
    spec: 'v3.1-part2 Manager; reference 8.6',
    query: summary,
    response: z.union([managerStatus, legacyManagerStatus]),
  },
  {
    ...common,
    id: 'getClusterStatus',
    method: 'GET',
    path: '/cluster-status',
    permission: 'cluster_status_get',
    versions: ['v3.1'],
    summary: 'Status of the cluster',
    spec: 'v3.1-part1 Cluster; reference 8.8',
    query: summary,
    response: clusterStatus,
  },
  {
    ...common,
    id: 'listManagers',
    method: 'GET',
    path: '/managers',
    permission: 'manager_get',
    versions: ['v3.1'],
    summary: 'Nodes of the cluster',
    spec: 'v3.1-part1 Cluster; reference 5.14',
    list: {
      fields: managerFields,
      filters: ['hostname'],
      ignoresOthers: true,
      sorts: ['id', 'hostname'],
      defaultSort: [{ field: 'id', descending: false }],
      allowsAllTenants: false,
      allowsGetAll: false,
    },
    response: envelope(manager.partial()),
  },
  {
    ...common,
    id: 'getManager',
    method: 'GET',
    path: '/managers/:hostname',
    permission: 'manager_get',
    versions: ['v3.1'],
    summary: 'One node of the cluster',
    spec: 'v3.1-part1 Cluster',
    includeFields: managerFields,
    response: manager.partial(),
  },
  {
    ...common,
    id: 'addManager',
    method: 'POST',
    path: '/managers',
    permission: 'manager_manage',
    versions: ['v3.1'],
    summary: 'Enters a node of the cluster; nodes that run also enter themselves',
    spec: 'reference 5.14',
    body: newManager,
    includeFields: managerFields,
    response: manager.partial(),
  },
  {
    ...common,
    id: 'updateManager',
    method: 'PUT',
    path: '/managers/:hostname',
    permission: 'manager_manage',
    versions: ['v3.1'],
    summary: 'Sets the node id of file replication',
    spec: 'reference 5.14',
    body: z.object({ fs_sync_node_id: z.string().max(256), bootstrap_cluster: z.boolean().optional() }),
    includeFields: managerFields,
    response: manager.partial(),
  },
  {
    ...common,
    id: 'deleteManager',
    method: 'DELETE',
    path: '/managers/:hostname',
    permission: 'manager_manage',
    versions: ['v3.1'],
    summary: 'Take a node out of the cluster',
    spec: 'v3.1-part1 Cluster; reference 5.14',
    status: 204,
  },
]);
