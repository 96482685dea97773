/** Filters of the list of executions, kept in the address. */
import type { ApiQuery } from '../api/pages';
import { choicesOf, flagOf, textOf } from '../search-params';

export const EXECUTION_STATUSES = [
  'started',
  'failed',
  'queued',
  'scheduled',
  'pending',
  'cancelling',
  'force_cancelling',
  'kill_cancelling',
  'cancelled',
  'terminated',
] as const;

export interface ExecutionListSearch {
  status?: (typeof EXECUTION_STATUSES)[number][];
  workflow_id?: string;
  deployment_id?: string;
  _include_system_workflows?: true;
}

export function readExecutionListSearch(search: Record<string, unknown>): ExecutionListSearch {
  return {
    status: choicesOf(search.status, EXECUTION_STATUSES),
    workflow_id: textOf(search.workflow_id),
    deployment_id: textOf(search.deployment_id),
    _include_system_workflows: flagOf(search._include_system_workflows),
  };
}

/** Returns the query of a page, newest first: running executions are the most interesting ones. */
export function executionPageOf(search: ExecutionListSearch): ApiQuery {
  return { ...without(search), _sort: ['-created_at', 'id'] };
}

/** Returns the query of the counts per status, without the filter by status itself. */
export function executionCountsOf({ status, ...search }: ExecutionListSearch): ApiQuery {
  void status;
  return without(search);
}

const without = (search: object): ApiQuery =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));
