import type { Db, Tx } from '@baton/postgres';
import type { Prisma } from '../gen/prisma/client';
import { model } from './model';
import type { DB } from './tables.gen';

export interface ProviderContext {
  name: string;
  context: Record<string, unknown>;
}

export async function readProviderContext(reader: Db<DB>['query']): Promise<ProviderContext | null> {
  const found = await model.over(reader, (p) =>
    p.providerContext.findFirst({ select: { name: true, context: true } }),
  );
  return found as ProviderContext | null;
}

/** Stores the provider context. False when one exists and may not be replaced, or none exists to be replaced. */
export async function writeProviderContext(
  tx: Tx<DB>,
  { name, context }: ProviderContext,
  isUpdate: boolean,
): Promise<boolean> {
  const data = { name, context: context as Prisma.InputJsonObject };
  const { count } = await model.over(tx, (p) =>
    isUpdate
      ? p.providerContext.updateMany({ data })
      : p.providerContext.createMany({ data, skipDuplicates: true }),
  );
  return count > 0;
}
