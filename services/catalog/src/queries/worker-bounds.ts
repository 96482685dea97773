/**
 * What a worker may read here: what the plan of its lease is made of. That is the blueprint of the lease, those that it imports,
 * and the plugins that it declares; which version of a plugin is for the plan to say, and an update of plugins changes that while
 * operations run, so the package is what is held. Services ask for themselves and are not bound.
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
  /** @throws AppError forbidden_error, also for a plugin that is not there */
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

/** Not a worker: the table of callers has let in a service, or calls are not guarded (inside one process). */
const isFree = ({ caller }: Call): boolean => caller?.name !== 'worker';
