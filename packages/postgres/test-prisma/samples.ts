import { prismaModel } from '../src/prisma/model';
import { PrismaClient } from './gen/client';

/** The model of test-prisma/schema.prisma. */
export const samples = prismaModel(
  'samples',
  (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' }),
);
