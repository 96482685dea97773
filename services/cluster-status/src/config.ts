import { runtimeConfig } from '@baton/service-runtime';
import { z } from 'zod';

/** Settings of the cluster-status service. */
export const configSchema = runtimeConfig.extend({
  BATON_PUBLIC_IP: z
    .string()
    .optional()
    .describe('Address shown as public_ip of the managers; default: the private one'),
  BATON_COMMIT: z.string().optional().describe('Commit that the running build was made from'),
  BATON_BUILD_DATE: z.string().optional().describe('Date of the running build, ISO 8601'),
});
export type ClusterStatusConfig = z.infer<typeof configSchema>;
