import { z } from 'zod';
import { defineRoutes } from '../route';

const number = z.string().regex(/^\d{1,9}$/, 'must be a whole number');
const size = number.transform(Number).pipe(z.number().max(1000));

const driftFinding = z
  .object({
    of: z
      .enum(['instance', 'source_of_relationship', 'target_of_relationship'])
      .describe('The instance itself, or a relationship at one end of which it stands'),
    other_instance_id: z.string().nullable().describe('At the other end of the relationship'),
    is_check_failed: z
      .boolean()
      .describe('The check failed with `result`; whether anything differs is not known'),
    checked_at: z.string().nullable(),
    task: z.string().nullable().describe('The operation that checked'),
    result: z.unknown().describe('As the operation check_drift answered it'),
    changes: z
      .array(z.object({ path: z.array(z.string()), expected: z.unknown(), actual: z.unknown() }))
      .describe('Values of the result that have the keys `expected` and `actual`'),
  })
  .meta({ id: 'DriftFinding' });

export const deploymentDriftRoutes = defineRoutes([
  {
    id: 'getDeploymentDrift',
    method: 'GET',
    path: '/deployments/:id/drift',
    owner: 'deployments',
    tenant: 'required',
    permission: 'node_instance_list',
    versions: ['v3.1'],
    summary:
      'Node instances whose configuration differs from what was expected, and what the last checks found',
    spec: 'Baton',
    params: z.object({ id: z.string() }),
    query: z.strictObject({
      _size: size.optional().describe('At most 1000; default 100'),
      _offset: number.transform(Number).optional(),
    }),
    status: 200,
    response: z
      .object({
        deployment_id: z.string(),
        total: z.number().int().describe('Drifted instances, in all pages together'),
        instances: z
          .array(
            z.object({
              id: z.string(),
              node_id: z.string(),
              index: z.number().int(),
              state: z.string(),
              findings: z.array(driftFinding),
            }),
          )
          .describe('By node and index'),
      })
      .meta({ id: 'DeploymentDrift' }),
  },
]);
