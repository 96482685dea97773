import type { RefusalTexts } from '../../domain/refusal-texts';

const listed = (ids: readonly string[]): string => `[${ids.map((id) => `'${id}'`).join(', ')}]`;

/** The original's words (reference/workflows.md 3.2), which its clients' tests compare. Lists are as Python writes them. */
export const originalTexts: RefusalTexts = {
  blockedSystemWide: (executionIds) =>
    `Cannot start execution because there are other executions running e.g.: ${listed(executionIds)}`,
  blockedStart: (executionIds) =>
    `The following executions are currently running for this deployment: ${listed(executionIds)}. ` +
    'To execute this workflow anyway, pass "force=true" as a query parameter to this request',
};
