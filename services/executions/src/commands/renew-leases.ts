import type { executionsRpc } from '@baton/contracts';
import { sql } from 'kysely';
import { leaseMs } from '../engine/advance-graph';
import type { EngineDeps } from '../engine/deps';
import { renewLeases } from '../store/tasks.sql';

/** Renews what the worker still holds and says what it must drop or kill. */
export async function heartbeat(
  deps: Pick<EngineDeps, 'db'>,
  request: executionsRpc.HeartbeatRequest,
): Promise<executionsRpc.HeartbeatResponse> {
  await sql`insert into workers (id, about) values (${request.workerId}, ${request.workerJson || '{}'}::jsonb)
    on conflict (id) do update set about = excluded.about, last_seen = app_now()`.execute(deps.db.query);
  if (request.taskIds.length === 0) return { lost: [], kill: [] };
  const { held, kill } = await deps.db.tx((tx) =>
    renewLeases(tx, request.workerId, request.taskIds, leaseMs),
  );
  return { lost: request.taskIds.filter((id) => !held.has(id)), kill };
}
