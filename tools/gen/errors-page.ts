import { type ErrorEntry, errorTable } from '../../packages/kernel/src/index';
import { notice, table } from './markdown';

const grpcNames: Record<number, string> = {
  3: 'INVALID_ARGUMENT',
  4: 'DEADLINE_EXCEEDED',
  5: 'NOT_FOUND',
  6: 'ALREADY_EXISTS',
  7: 'PERMISSION_DENIED',
  8: 'RESOURCE_EXHAUSTED',
  9: 'FAILED_PRECONDITION',
  10: 'ABORTED',
  13: 'INTERNAL',
  14: 'UNAVAILABLE',
  16: 'UNAUTHENTICATED',
};

/** Returns the page of every error code with its transports, from packages/kernel/src/error-table.ts. */
export function errorsPage(): string {
  const rows = Object.entries(errorTable as Record<string, ErrorEntry>)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, e]) => [
      `\`${code}\``,
      String(e.http),
      grpcNames[e.grpc] ?? String(e.grpc),
      e.retryable ? 'yes' : '',
      e.doc,
    ]);
  const head = ['error_code', 'HTTP', 'rpc', 'Same call may succeed later', 'Meaning'];
  return `${notice}\n\n# Error codes\n\n${table(head, rows)}\n`;
}
