import type { executionsRpc } from '@baton/contracts';
import type { EngineDeps } from '../engine/deps';
import { leaseMs } from '../engine/task-writes';
import { noteWorker, renewLeases } from '../store/tasks.sql';

/** Renews what the worker still holds and says what it must drop or kill. */
export async function heartbeat(
  deps: Pick<EngineDeps, 'db'>,
  request: executionsRpc.HeartbeatRequest,
): Promise<executionsRpc.HeartbeatResponse> {
  const { workerId, workerJson, taskIds } = request;
  await noteWorker(deps.db, workerId, workerJson || '{}');
  if (taskIds.length === 0) return { lost: [], kill: [] };
  const { held, kill } = await renewLeases(deps.db.query, workerId, taskIds, leaseMs);
  return { lost: taskIds.filter((id) => !held.has(id)), kill };
}
