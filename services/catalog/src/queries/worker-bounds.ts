/**
 * Limits the catalog's reads of a worker to the parts of its lease's plan: the blueprint of the lease, the blueprints that it
 * imports, and the plugins that it declares. The check compares the package of a plugin and not its version: the plan decides the
 * version, and a plugins update changes it while operations run. Services that read for themselves are not limited.
 */
import { AppError } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { ServedCall } from '@baton/rpc';
import type { PlanUse } from '../domain/plan-uses';
import type { DB } from '../store/tables.gen';
import { packageOf, usesEach } from '../store/worker-bounds.sql';

type Call = Pick<ServedCall, 'caller' | 'lease'>;

export interface WorkerBounds {
  /** @throws AppError forbidden_error */
  requireBlueprint(call: Call, blueprintId: string): Promise<void>;
  /** @throws AppError forbidden_error */
  requirePackages(call: Call, names: readonly string[]): Promise<void>;
  /** @throws AppError forbidden_error, also for a plugin that does not exist */
  requirePlugin(call: Call, pluginId: string): Promise<void>;
}

export function createWorkerBounds(db: Db<DB>['query']): WorkerBounds {
  const requireUses = async (call: Call, kind: PlanUse['kind'], names: readonly string[]): Promise<void> => {
    const { tenant, blueprintId: id } = call.lease!;
    if (await usesEach(db, { tenant, id }, kind, names)) return;
    throw new AppError('forbidden_error', `The plan that the lease is of uses no such ${kind}`, { kind });
  };
  return {
    async requireBlueprint(call, blueprintId) {
      if (isFree(call) || blueprintId === call.lease!.blueprintId) return;
      await requireUses(call, 'blueprint', [blueprintId]);
    },
    async requirePackages(call, names) {
      if (!isFree(call) && names.length > 0) await requireUses(call, 'plugin', names);
    },
    async requirePlugin(call, pluginId) {
      if (isFree(call)) return;
      await requireUses(call, 'plugin', [(await packageOf(db, pluginId)) ?? '']);
    },
  };
}

/**
 * Whether the caller is not a worker: a service that the table of callers has admitted, or an unguarded call inside one process.
 */
const isFree = ({ caller }: Call): boolean => caller?.name !== 'worker';
