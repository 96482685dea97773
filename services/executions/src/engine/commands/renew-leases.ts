import { addressOfWorker, type executionsRpc } from '@baton/contracts';
import type { LeaseProofs } from '@baton/trust';
import type { Ports } from '../../ports';
import { requireNamed } from '../domain/agent-limits';
import { leaseMsOf } from '../steps/task-writes';
import { noteWorker, renewLeases } from '../store/tasks.sql';

/** Renews the leases that the worker still holds; returns the tasks that it must drop or kill. */
export async function heartbeat(
  deps: Pick<Ports, 'agents' | 'db' | 'leases' | 'queue'>,
  request: executionsRpc.HeartbeatRequest,
): Promise<executionsRpc.HeartbeatResponse> {
  const { workerId, workerJson, taskIds, proofs } = request;
  requireNamed(workerId, 'task_ids', taskIds);
  // What an agent says of itself goes to deployments.
  const about = addressOfWorker(workerId) === null ? workerJson : '';
  await noteWorker(deps.db, workerId, about || '{}');
  const weights = deps.queue.weights();
  if (taskIds.length === 0) return { lost: [], kill: [], proofs: {}, weights };
  const leaseMs = leaseMsOf(deps.agents, workerId);
  const { held, kill } = await renewLeases(deps.db.query, workerId, taskIds, leaseMs);
  return {
    lost: taskIds.filter((id) => !held.has(id)),
    kill,
    proofs: renewed(deps.leases, proofs, { workerId, held, leaseMs }),
    weights,
  };
}

/** Returns new proofs of the held leases, which are valid as long as the leases; their content does not change. */
function renewed(
  leases: LeaseProofs,
  proofs: readonly string[],
  { workerId, held, leaseMs }: { workerId: string; held: ReadonlySet<string>; leaseMs: number },
): Record<string, string> {
  const fresh: Record<string, string> = {};
  for (const proof of proofs) {
    const lease = leases.read(proof, true);
    if (lease.workerId === workerId && held.has(lease.taskId))
      fresh[lease.taskId] = leases.prove(lease, leaseMs);
  }
  return fresh;
}
