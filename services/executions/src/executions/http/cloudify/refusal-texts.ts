import type { RefusalTexts } from '../../domain/refusal-texts';

/** The original's words (reference/workflows.md 3.2), which its clients' tests compare. Lists are as Python writes them. */
export const originalTexts: RefusalTexts = {
  blockedStart: (executionIds) =>
    `The following executions are currently running for this deployment: [${executionIds.map((id) => `'${id}'`).join(', ')}]. ` +
    'To execute this workflow anyway, pass "force=true" as a query parameter to this request',
};
