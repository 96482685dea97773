import type { DeploymentModel } from '@baton/task-graph';
import type { MemoryDatabase, MemoryExecution } from './database';

interface Peer {
  models: ReadonlyMap<string, DeploymentModel>;
  applied: ReadonlyMap<string, number>;
}

/** All states of node instances that commits decided, including those whose rows are gone. */
export interface DecidedStates {
  /** Returns an error text when something is wrong: rows may be deleted only after deployments has applied their states. */
  note(after: MemoryExecution): string | null;
  /** Whether, for each instance that still exists, the last state up to a number has been applied. */
  areApplied(executionId: string, upTo: number): boolean;
}

export function newDecidedStates(database: () => MemoryDatabase, peer: () => Peer): DecidedStates {
  const decided = new Map<string, Map<string, number[]>>();
  const areApplied: DecidedStates['areApplied'] = (executionId, upTo) => {
    const { models, applied } = peer();
    for (const [instance, seqs] of decided.get(executionId) ?? []) {
      const last = Math.max(0, ...seqs.filter((seq) => seq <= upTo));
      const deployment = database().executions.get(executionId)!.row.deployment_id!;
      const isThere = models.get(deployment)!.nodeInstances.some(({ id }) => id === instance);
      if (isThere && (applied.get(`${executionId}/${instance}`) ?? 0) < last) return false;
    }
    return true;
  };
  return {
    note({ row, states }) {
      const known = decided.get(row.id) ?? new Map<string, number[]>();
      decided.set(row.id, known);
      for (const { node_instance_id, seq } of states) {
        const seqs = known.get(node_instance_id) ?? [];
        if (!seqs.includes(seq)) seqs.push(seq);
        known.set(node_instance_id, seqs);
      }
      const oldest = Math.min(row.last_state_seq + 1, ...states.map(({ seq }) => seq));
      return areApplied(row.id, oldest - 1) ? null : `${row.id}: states are forgotten that were not applied`;
    },
    areApplied,
  };
}
