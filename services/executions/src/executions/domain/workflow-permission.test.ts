import type { Principal } from '@baton/contracts';
import { requireWorkflowPermission } from './workflow-permission';

const principal = (permissions: string[]) => ({ username: 'ada', permissions }) as Principal;

test('updating by name needs the permission of an update, anything else none of its own', () => {
  const start = (permissions: string[], workflow: string) => () =>
    requireWorkflowPermission(principal(permissions), workflow);
  expect(start(['execution_start'], 'csys_update_deployment')).toThrow(
    expect.objectContaining({
      code: 'forbidden_error',
      details: { field: 'workflow_id', permission: 'deployment_update_create' },
    }),
  );
  expect(start(['execution_start', 'deployment_update_create'], 'csys_update_deployment')).not.toThrow();
  expect(start(['execution_start'], 'install')).not.toThrow();
});
