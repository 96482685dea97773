import { z } from 'zod';
import { defineMessage } from '../message';

export const deploymentCreated = defineMessage(
  'deployments.deployment-created.v1',
  'work',
  z.object({ deploymentId: z.string(), blueprintId: z.string() }),
);
export const deploymentDeleted = defineMessage(
  'deployments.deployment-deleted.v1',
  'work',
  z.object({ deploymentId: z.string(), deleteLogs: z.boolean() }),
);
