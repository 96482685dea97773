/** Executions that a cascading workflow starts on the components of its deployment (reference/workflows.md 8.4). */

/** Returns the request id of the execution on a component: the same at every repetition. */
export function cascadedRequestId(parent: { request_id: string }, deploymentId: string): string {
  return `cascade:${parent.request_id}:${deploymentId}`;
}
