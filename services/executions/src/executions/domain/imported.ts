import type { ExecutionRow } from '../../store/rows';

/** Request id of an execution that an import has brought: no request of a client has this form. */
export const importedRequestId = (importId: string, executionId: string): string =>
  `import:${importId}:${executionId}`;

/** Whether another manager has carried out the execution. */
export const isImported = ({ request_id: id }: Pick<ExecutionRow, 'request_id'>): boolean =>
  /^import:[0-9a-f-]{36}:/.test(id);
