import { createHash } from 'node:crypto';

/** The key of a step for other services: the same for each attempt of a task, in the form of a UUID (RFC 9562, version 8). */
export function idempotencyKey(taskId: string, step: string): string {
  const hex = createHash('sha256').update(`${taskId}\n${step}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
