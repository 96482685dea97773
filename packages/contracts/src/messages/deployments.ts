import { z } from 'zod';
import { defineMessage } from '../message';

export const deploymentCreated = defineMessage(
  'deployments.deployment-created.v1',
  'work',
  z.object({
    deploymentId: z.string(),
    blueprintId: z.string(),
    /** Id of the terminated create_deployment_environment execution that executions records. */
    createExecutionId: z.string().optional(),
    createdBy: z.string().optional(),
    displayName: z.string().optional(),
    visibility: z.string().optional(),
    /** Parameters shown on that execution. */
    parameters: z.record(z.string(), z.unknown()).optional(),
    /** Completed steps, as log lines of that execution. */
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
    /**
     * The execution that created the deployment, as in deployment-created: a new deployment with the same id may exist
     * when the message arrives.
     */
    createExecutionId: z.string().optional(),
  }),
);

/**
 * Deployments were created in a group: executions records their create_deployment_environment executions as one
 * execution group. At most a few hundred per message; deployments with default schedules also get a deployment-created
 * message.
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

/** Labels, display name, visibility or site of a deployment changed (`settings`), or an update was carried out (`update`). */
export const deploymentUpdated = defineMessage(
  'deployments.deployment-updated.v1',
  'work',
  z.object({
    deploymentId: z.string(),
    change: z.enum(['settings', 'update']),
    blueprintId: z.string().optional(),
    updateId: z.string().optional(),
  }),
);

/** Node instances of a deployment began or ceased to differ from their configuration, as a drift check found. */
export const deploymentDriftChanged = defineMessage(
  'deployments.deployment-drift-changed.v1',
  'work',
  z.object({
    deploymentId: z.string(),
    blueprintId: z.string().optional(),
    /** Drifted instances of the deployment when this was told. */
    driftedInstances: z.number().int().nonnegative(),
    newlyDrifted: z.number().int().nonnegative(),
    noLongerDrifted: z.number().int().nonnegative(),
    /** ISO instant of the last change. */
    changedAt: z.string(),
  }),
);

/** An agent with a good certificate was revoked or deleted: nothing that it does counts from then on. */
export const agentRevoked = defineMessage(
  'deployments.agent-revoked.v1',
  'work',
  z.object({
    /** Address of the agent (agentAddress). A new agent may have the same address when the message arrives. */
    agent: z.string(),
    /** ISO instant. */
    revokedAt: z.string(),
  }),
);
