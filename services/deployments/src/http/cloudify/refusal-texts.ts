import type { RefusalTexts } from '../../domain/refusal-texts';

/** The original's words (reference/workflows.md 3.1, 4.2 and 9), which its clients' tests compare. */
export const originalTexts: RefusalTexts = {
  staleInstance: (_id, sent, stored) =>
    `Node instance update conflict [current version=${stored}, update version=${sent}]`,
  activeExecutions: (deploymentId, active) =>
    `Can't delete deployment ${deploymentId} - There are running or queued executions of it: ${active.join(', ')}`,
  failedDependencies: (deploymentId, reason) =>
    `Failed updating dependencies of deployment ${deploymentId}: ${reason}`,
};
