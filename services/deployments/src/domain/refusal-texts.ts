/** Texts of refusals that clients of the original compare; the values of the specification. */
export interface RefusalTexts {
  /** A node instance has been changed since the version that the request names. */
  staleInstance(id: string, sent: number, stored: number): string;
  /** A deployment cannot be deleted while executions of it run or wait. `active`: our description of them. */
  activeExecutions(deploymentId: string, active: readonly string[]): string;
  /** A dependency cannot be written at the end of an execution, which has failed for `reason`. */
  failedDependencies(deploymentId: string, reason: string): string;
}

export const specTexts: RefusalTexts = {
  staleInstance: (id, sent, stored) =>
    `Node instance \`${id}\` was changed meanwhile: version ${sent} was sent, ${stored} is stored`,
  activeExecutions: (deploymentId, active) =>
    `Cannot delete deployment \`${deploymentId}\`: executions of it run or are queued: ${active.join(', ')}`,
  failedDependencies: (_deploymentId, reason) => reason,
};
