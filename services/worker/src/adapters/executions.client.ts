import { executionsRpc } from '@baton/contracts';
import type { HeldProof, RpcConnector } from '@baton/rpc';

/** The calls of this worker to the engine. */
export interface ExecutionsClient {
  claim(executionId: string, taskId: string, room: number): Promise<executionsRpc.TaskLease[]>;
  finish(outcomes: executionsRpc.TaskOutcome[], room: number): Promise<executionsRpc.FinishTasksResponse>;
  /** `proofs`: proofs of those leases, to be renewed. */
  heartbeat(
    taskIds: string[],
    proofs: string[],
    deadlineMs: number,
  ): Promise<executionsRpc.HeartbeatResponse>;
  appendEvents(
    batchId: string,
    executionId: string,
    eventsJson: string,
    lease: HeldProof | undefined,
  ): Promise<void>;
  /**
   * Sends work from running workflow code to the engine. @throws AppError stale_attempt_error when the code no longer holds its
   * run.
   */
  submitWork(run: CodeRun, workJson: string): Promise<executionsRpc.SubmitWorkResponse>;
  awaitWork(
    run: CodeRun,
    ask: { afterVersion: number; isCancelKnown: boolean; maxWaitMs: number },
    signal: AbortSignal,
  ): Promise<executionsRpc.AwaitWorkResponse>;
  callFromWorkflow(run: CodeRun, key: string, requestJson: string): Promise<string>;
}

export interface CodeRun {
  executionId: string;
  taskId: string;
  attempt: number;
}

/** Added to the time that the engine may wait before it answers. */
const AWAIT_MARGIN_MS = 10_000;
/** Submissions and calls first read and change the model of the deployment. */
const SUBMIT_DEADLINE_MS = 40_000;

/** Creates the client. `about`: the facts about the worker that heartbeats report. */
export function createExecutionsClient(rpc: RpcConnector, workerId: string, about: object): ExecutionsClient {
  const client = rpc.client(executionsRpc.ExecutionsServiceDefinition, 'executions');
  const workerJson = JSON.stringify(about);
  return {
    claim: async (executionId, taskId, room) =>
      (await client.claimTask({ workerId, taskId, executionId, room })).leases,
    finish: (outcomes, room) => client.finishTasks({ workerId, outcomes, room, readsUntaken: true }),
    heartbeat: (taskIds, proofs, deadlineMs) =>
      client.heartbeat({ workerId, taskIds, workerJson, proofs }, { deadlineMs }),
    appendEvents: async (batchId, executionId, eventsJson, lease) => {
      await client.appendEvents({ batchId, executionId, workerId, eventsJson }, { lease });
    },
    submitWork: (run, workJson) =>
      client.submitWork({ run: { workerId, ...run }, workJson }, { deadlineMs: SUBMIT_DEADLINE_MS }),
    awaitWork: (run, ask, signal) =>
      client.awaitWork(
        { run: { workerId, ...run }, ...ask },
        { deadlineMs: ask.maxWaitMs + AWAIT_MARGIN_MS, signal },
      ),
    callFromWorkflow: async (run, key, requestJson) => {
      const asked = { run: { workerId, ...run }, key, requestJson };
      return (await client.callFromWorkflow(asked, { deadlineMs: SUBMIT_DEADLINE_MS })).resultJson;
    },
  };
}
