import type { DeploymentRow } from '../api/deployments';
import type { Change } from './fold-changes';
import { patchAll, patchDeployment, patchExecution } from './patch-rows';

const row = { id: 'web', latest_execution: 'e1', latest_execution_status: 'completed' } as DeploymentRow;
const change = (more: Partial<Change>): Change => ({
  kind: 'executions',
  id: 'e1',
  operation: 'changed',
  status: 'started',
  deployment_id: 'web',
  workflow_id: 'heal',
  total_operations: 4,
  finished_operations: 1,
  ...more,
});

test('the latest execution of a row moves with its changes', () =>
  expect(
    patchDeployment(row, [change({}), change({ status: 'failed', finished_operations: 4 })]),
  ).toMatchObject({
    latest_execution: 'e1',
    latest_execution_status: 'failed',
    latest_execution_workflow_id: 'heal',
    latest_execution_finished_operations: 4,
  }));

test('a new execution becomes the latest, an older one that changes does not', () => {
  expect(patchDeployment(row, [change({ id: 'e2', operation: 'created' })]).latest_execution).toBe('e2');
  expect(patchDeployment(row, [change({ id: 'e0' })])).toBe(row);
});

test.each([
  { deployment_id: 'other' },
  { kind: 'deployments' },
  { operation: 'deleted' as const },
  { status: undefined },
])('%o says nothing about the row', (more) => expect(patchDeployment(row, [change(more)])).toBe(row));

test('an execution keeps what the change does not say', () => {
  const execution = { id: 'e1', status: 'pending', total_operations: 9, finished_operations: 0 };
  expect(patchExecution(execution, [change({ total_operations: undefined })])).toEqual({
    id: 'e1',
    status: 'started',
    total_operations: 9,
    finished_operations: 1,
  });
  expect(patchExecution(execution, [change({ id: 'e2' })])).toBe(execution);
});

test('a list without news is the same list', () => {
  const rows = [{ id: 'a' }, { id: 'b' }];
  expect(patchAll(rows, (one) => one)).toBe(rows);
  expect(patchAll(rows, (one) => (one.id === 'b' ? { id: 'c' } : one))).toEqual([{ id: 'a' }, { id: 'c' }]);
});
