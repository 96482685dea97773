/** Texts of refusals that clients of the original compare; the values of the specification. */
export interface RefusalTexts {
  /** A start that other executions of the deployment block. */
  blockedStart(executionIds: readonly string[]): string;
  /** The start of a system-wide execution, which any other execution blocks. */
  blockedSystemWide(executionIds: readonly string[]): string;
}

/** What the caller may do about it. */
export const START_ANYWAY =
  'To execute this workflow anyway, pass "force=true"; to run it after them, "queue=true"';

export const specTexts: RefusalTexts = {
  blockedStart: (executionIds) =>
    `The following executions are currently running for this deployment: ${executionIds.join(', ')}. ${START_ANYWAY}`,
  blockedSystemWide: (executionIds) =>
    `Executions are currently running: ${executionIds.join(', ')}. This one changes the base of all deployments, so nothing may run ` +
    'beside it. To run it after them, pass "queue=true"',
};
