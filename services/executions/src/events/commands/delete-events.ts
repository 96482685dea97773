import type { ListQuery, Principal } from '@baton/contracts';
import { badParameter } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import { eventScope, rangeConditions } from '../queries/list-events';
import { deleteWhere } from '../store/events.sql';

const EVENT = /^(platform|cloudify)_event$/;
const LOG = /^(platform|cloudify)_log$/;

/**
 * Deletes the events of a deployment within `_range`; its log lines are deleted too when `type` names them as well
 * (reference/rest-api.md 5.10).
 * @returns the number of deleted rows.
 * @throws AppError bad_parameters_error without deployment_id or without the type of events.
 */
export async function deleteEvents(db: Db<DB>, principal: Principal, list: ListQuery): Promise<number> {
  const types = list.filters.type ?? [];
  if (!types.some((type) => EVENT.test(type)))
    throw badParameter('type', 'Only events, or events and logs, can be deleted', {
      expected: ['platform_event', 'platform_log'],
    });
  const deployments = list.filters.deployment_id ?? [];
  if (deployments.length === 0)
    throw badParameter('deployment_id', 'deployment_id is missing', { expected: 'the id of a deployment' });
  const where = [eventScope(principal), ...rangeConditions(list.extra._range ?? [])];
  const withLogs = types.some((type) => LOG.test(type));
  return await db.tx((tx) => deleteWhere(tx, where, { deployments, withLogs }));
}
