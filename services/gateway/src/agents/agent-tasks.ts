/** Which operations each agent holds, as far as its calls have shown: a cancelled operation is told to its agent alone. */
import { executionsRpc } from '@baton/contracts';
import type { PassedCall } from '@baton/rpc';

/** The operations of one agent. */
export interface AgentTasks {
  /** Reads an answered call of the agent. */
  learn(call: Pick<PassedCall, 'method' | 'body'>, answer: Uint8Array): void;
  /** Returns those of `taskIds` that the agent holds. */
  among(taskIds: readonly string[]): string[];
}

/** An agent runs at most some tens at a time; beyond this, the oldest are forgotten, and the agent learns of them by a heartbeat. */
const MAX_TASKS = 1_000;

const {
  ClaimAgentTasksRequest,
  ClaimAgentTasksResponse,
  ClaimTaskResponse,
  FinishTasksRequest,
  FinishTasksResponse,
} = executionsRpc;

const idsOf = (tasks: readonly { taskId: string }[]): string[] => tasks.map(({ taskId }) => taskId);

/** By method: the operations that the agent holds from now on, and those that it holds no more. */
const readers: Record<string, (request: Uint8Array, answer: Uint8Array) => [string[], string[]]> = {
  ClaimTask: (_request, answer) => [idsOf(ClaimTaskResponse.decode(answer).leases), []],
  ClaimAgentTasks: (request, answer) => {
    const { leases, lost } = ClaimAgentTasksResponse.decode(answer);
    return [[...idsOf(ClaimAgentTasksRequest.decode(request).held), ...idsOf(leases)], lost];
  },
  FinishTasks: (request, answer) => [
    idsOf(FinishTasksResponse.decode(answer).leases),
    idsOf(FinishTasksRequest.decode(request).outcomes),
  ],
};

export function createAgentTasks(): AgentTasks {
  const held = new Set<string>();
  return {
    learn({ method, body }, answer) {
      const read = readers[method.name];
      if (!read) return;
      const [taken, left] = read(body, answer);
      for (const id of taken) {
        held.delete(id);
        held.add(id);
      }
      for (const id of left) held.delete(id);
      for (const id of held) {
        if (held.size <= MAX_TASKS) break;
        held.delete(id);
      }
    },
    among: (taskIds) => taskIds.filter((id) => held.has(id)),
  };
}
