import { z } from 'zod';
import { defineRoutes } from '../route';

const count = z.number().int();

const topologyNode = z
  .object({
    id: z.string(),
    type: z.string().describe('Its hierarchy stands in `types`'),
    host_id: z.string().nullable(),
    contained_in: z.string().nullable().describe('The node that it is contained in'),
    instances: z.object({
      total: count,
      by_state: z.record(z.string(), count).describe('State: how many instances are in it'),
    }),
    has_drift: z.boolean().describe('The configuration of an instance differs from what was expected'),
  })
  .meta({ id: 'TopologyNode' });

const topologyEdge = z
  .object({
    source: z.string(),
    target: z.string(),
    type: z.string(),
    kind: z
      .enum(['contained_in', 'connected_to', 'depends_on'])
      .describe('The built-in type that `type` derives from'),
  })
  .meta({ id: 'TopologyEdge' });

export const deploymentTopologyRoutes = defineRoutes([
  {
    id: 'getDeploymentTopology',
    method: 'GET',
    path: '/deployments/:id/topology',
    owner: 'deployments',
    tenant: 'required',
    permission: 'node_list',
    versions: ['v3.1'],
    summary:
      'Nodes of a deployment, their relationships and how many instances are in which state, without properties; 304 for an unchanged version in If-None-Match',
    spec: 'Baton',
    params: z.object({ id: z.string() }),
    query: z.strictObject({}),
    status: 200,
    response: z
      .object({
        deployment_id: z.string(),
        version: z
          .string()
          .describe('Changes with everything that is shown here; the ETag without its quotes'),
        nodes: z.array(topologyNode).describe('In the order of the plan'),
        edges: z.array(topologyEdge),
        types: z
          .record(z.string(), z.array(z.string()))
          .describe('Type of a node: its hierarchy, the root first'),
        groups: z
          .array(z.object({ id: z.string(), members: z.array(z.string()) }))
          .describe('Scaling groups'),
      })
      .meta({ id: 'DeploymentTopology' }),
  },
]);
