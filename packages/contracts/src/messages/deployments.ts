import { z } from 'zod';
import { defineMessage } from '../message';

export const deploymentCreated = defineMessage(
  'deployments.deployment-created.v1',
  'work',
  z.object({
    deploymentId: z.string(),
    blueprintId: z.string(),
    /** Id that executions records the terminated create_deployment_environment execution under. */
    createExecutionId: z.string().optional(),
    createdBy: z.string().optional(),
    displayName: z.string().optional(),
    visibility: z.string().optional(),
    /** Parameters shown on that execution. */
    parameters: z.record(z.string(), z.unknown()).optional(),
    /** What was done, as log lines of that execution. */
    log: z.array(z.string()).optional(),
    /** deployment_settings.default_schedules of the plan by name (reference/dsl.md 2.13): executions makes them. */
    defaultSchedules: z.record(z.string(), z.unknown()).optional(),
  }),
);
export const deploymentDeleted = defineMessage(
  'deployments.deployment-deleted.v1',
  'work',
  z.object({
    deploymentId: z.string(),
    deleteLogs: z.boolean(),
    /** The execution that made it, as in deployment-created: there may be a new one of its id when this is heard. */
    createExecutionId: z.string().optional(),
  }),
);

/**
 * Deployments were made in a group: executions records their create_deployment_environment executions as one execution
 * group. At most a few hundred a message; those with default schedules are told by deployment-created as well.
 */
export const groupDeploymentsCreated = defineMessage(
  'deployments.group-deployments-created.v1',
  'work',
  z.object({
    executionGroupId: z.string(),
    deploymentGroupId: z.string(),
    createdBy: z.string(),
    visibility: z.string(),
    deployments: z.array(
      z.object({
        deploymentId: z.string(),
        blueprintId: z.string(),
        createExecutionId: z.string(),
        displayName: z.string(),
        visibility: z.string(),
        /** Parameters shown on the execution. */
        parameters: z.record(z.string(), z.unknown()),
      }),
    ),
  }),
);
