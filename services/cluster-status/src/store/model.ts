import { prismaModel } from '@baton/postgres';
import type { PrismaClient } from '../gen/prisma/client';

/**
 * Access to plain records of this service through Prisma: `model.over(tx, (p) => p.…)`. Prisma is loaded at the first use, not at
 * the start.
 */
export const model = prismaModel<PrismaClient>('cluster_status', (adapter) => {
  const client = require('../gen/prisma/client') as typeof import('../gen/prisma/client');
  return new client.PrismaClient({ adapter, errorFormat: 'minimal' });
});
