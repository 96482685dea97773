import { executionAccepted, executionRequested as requestedMessage } from '@baton/contracts';
import { type ConsumerPart, consumerPart } from '@baton/service-runtime';
import { executionRequested } from '../commands/execution-ended';
import type { ServiceDeps } from '../deps';

const PREFETCH = 50;

/**
 * Makes a new execution the latest one of its deployment, and handles one that was resumed. Ids and versions decide, so that order
 * and repeats do not matter.
 */
export function onExecutionRequested(deps: Pick<ServiceDeps, 'db' | 'notes'>): ConsumerPart[] {
  return [executionAccepted, requestedMessage].map((message) =>
    consumerPart(message, {
      queue: 'deployments-latest-execution',
      prefetch: PREFETCH,
      handler: async ({ tenant, time, payload }) => {
        const { executionId, deploymentId, workflowId, version = 0 } = payload;
        if (!deploymentId || !workflowId) return;
        const resumedAt = payload.isResumed ? time : undefined;
        await executionRequested(deps, { tenant, deploymentId, executionId, workflowId, resumedAt, version });
      },
    }),
  );
}
