import { nodeType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { AUTHENTICATION, CONFIGURATION } from '../client/schema';

/** Says how a cluster is reached; nodes with the relationship managed_by_master use it. */
export const master = nodeType({
  description: 'Says how a cluster is reached',
  aliases: ['cloudify.kubernetes.nodes.Master'],
  properties: z.object({
    configuration: CONFIGURATION.optional(),
    authentication: AUTHENTICATION.optional(),
  }),
});
