import { z } from 'zod';
import { defineRoutes } from '../route';
import { queryBoolean } from './shapes';

const count = z.number().int();

export const deploymentImpactRoutes = defineRoutes([
  {
    id: 'getDeploymentImpact',
    method: 'GET',
    path: '/deployments/:id/impact',
    owner: 'deployments',
    tenant: 'required',
    // The answer names the same resources as the refusal of a delete.
    permission: 'deployment_delete',
    versions: ['v3.1'],
    summary: 'What a delete of the deployment would hit, and what would keep it',
    spec: 'Baton',
    params: z.object({ id: z.string() }),
    query: z.strictObject({
      force: queryBoolean
        .optional()
        .describe('As of the delete: looks past dependents and live node instances'),
      recursive: queryBoolean.optional().describe('As of the delete: children by csys-obj-parent go with it'),
    }),
    status: 200,
    response: z
      .object({
        deployment_id: z.string(),
        can_delete: z.boolean(),
        is_whole: z.boolean().describe('false: too many deployments to look at; then can_delete is false'),
        deployments: z.array(z.string()).describe('That go with a delete, the named one first; at most 100'),
        total_deployments: count,
        blockers: z.array(
          z.object({
            kind: z.enum(['dependent', 'execution', 'node_instance']),
            id: z.string(),
            reason: z.string(),
            deployment_id: z.string().describe('The deployment that is kept'),
          }),
        ),
        dependents: z.array(
          z.object({
            deployment_id: z.string().describe('The deployment that needs another one'),
            of: z.string(),
            is_external: z.boolean().describe('It is one of another manager'),
            reason: z.string(),
          }),
        ),
        running_executions: z.array(
          z.object({
            id: z.string(),
            workflow_id: z.string(),
            status: z.string(),
            deployment_id: z.string(),
          }),
        ),
        schedules: count.describe('That are removed with it'),
        groups: z.array(z.string()).describe('Deployment groups that lose a member'),
        live_instances: count.describe('Neither uninitialized nor deleted, of all deployments that go'),
      })
      .meta({ id: 'DeploymentImpact' }),
  },
]);
