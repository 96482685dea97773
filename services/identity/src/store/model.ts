import { prismaModel } from '@baton/postgres';
import type { PrismaClient } from '../gen/prisma/client';

/**
 * Plain records of this service through Prisma: `model.over(tx, (p) => p.…)`. Prisma is loaded at the first use, not at the start.
 */
export const model = prismaModel<PrismaClient>('identity', (adapter) => {
  const client = require('../gen/prisma/client') as typeof import('../gen/prisma/client');
  return new client.PrismaClient({ adapter, errorFormat: 'minimal' });
});
