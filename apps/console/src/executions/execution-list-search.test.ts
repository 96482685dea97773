import { executionCountsOf, executionPageOf, readExecutionListSearch } from './execution-list-search';

test('an address is read, and asked for newest first', () => {
  const search = readExecutionListSearch({
    status: ['failed', 'x'],
    workflow_id: 'heal',
    _include_system_workflows: 'true',
  });
  expect(executionPageOf(search)).toEqual({
    status: ['failed'],
    workflow_id: 'heal',
    _include_system_workflows: true,
    _sort: ['-created_at', 'id'],
  });
  expect(executionCountsOf(search)).toEqual({ workflow_id: 'heal', _include_system_workflows: true });
});
