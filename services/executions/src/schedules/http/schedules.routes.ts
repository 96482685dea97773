import { executionScheduleRoutes } from '@baton/contracts/http/execution-schedules';
import { type BoundRoute, bindRoutes, type HttpCall, listEnvelope } from '@baton/http';
import { createSchedule, type ScheduleDeps, updateSchedule } from '../commands/put-schedule';
import { removeSchedule } from '../commands/remove-schedules';
import {
  listOccurrences,
  listSchedules,
  readSchedule,
  scheduleKey,
  summarizeSchedules,
} from '../queries/list-schedules';
import type { SchedulesWire } from './wire-policy';

/** Routes of execution schedules (spec v3.1 part 2 "Execution schedules"). */
export function schedulesRoutes(deps: ScheduleDeps & { wire: SchedulesWire }): BoundRoute[] {
  const { present } = deps.wire;
  const place = (call: HttpCall) => ({
    deploymentId: call.query.deployment_id as string,
    id: call.params.schedule_id!,
  });
  const key = (call: HttpCall) => scheduleKey(deps.db.query, call.principal, place(call));
  const shown = async (call: HttpCall) =>
    present(await readSchedule(deps.db.query, call.principal, place(call)));
  const remove = async (call: HttpCall) => await removeSchedule(deps.db, await key(call));
  return bindRoutes(executionScheduleRoutes, {
    async listExecutionSchedules({ principal, list }) {
      const page = await listSchedules(deps.db.query, principal, list);
      return listEnvelope({ ...page, items: page.items.map(present) }, list);
    },
    getExecutionSchedule: shown,
    async createExecutionSchedule(call) {
      await createSchedule(deps, call.principal, place(call), call.body);
      return await shown(call);
    },
    async updateExecutionSchedule(call) {
      await updateSchedule(deps, await key(call), place(call).id, call.body);
      return await shown(call);
    },
    deleteExecutionSchedule: remove,
    deleteExecutionsSchedule: remove,
    async listScheduleOccurrences(call) {
      const items = await listOccurrences(deps.db.query, await key(call));
      return { items, metadata: { pagination: { total: items.length, size: items.length, offset: 0 } } };
    },
    async summarizeExecutionSchedules({ principal, list, query }) {
      return listEnvelope(await summarizeSchedules(deps.db.query, principal, list, query), list, {
        hasFiltered: false,
      });
    },
  });
}
