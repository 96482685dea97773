import type { Principal } from '@baton/contracts';
import { checkMaintenance, type MaintenanceState } from './maintenance';
import type { CompiledRoute } from './route-table';

const caller = (permissions: string[]) => ({
  principal: { isBootstrapAdmin: false } as Principal,
  permissions: new Set(permissions),
});
const check = (
  state: MaintenanceState,
  method: string,
  path: string,
  bypass = false,
  permissions: string[] = [],
) => {
  try {
    checkMaintenance(
      state,
      {
        route: { contract: {} } as CompiledRoute,
        method,
        path,
        headers: { bypassesMaintenance: bypass } as never,
      },
      caller(permissions),
    );
    return 'open';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test('activated: only the listed resources answer', () => {
  expect(check('deactivated', 'GET', '/sites')).toBe('open');
  expect(check('activated', 'GET', '/sites')).toBe('maintenance_mode_active');
  for (const path of ['/version', '/maintenance/deactivate', '/snapshots/s1', '/snapshots/s1/restore'])
    expect(check('activated', 'POST', path)).toBe('open');
});
test('activating: only what starts work waits', () => {
  expect(check('activating', 'GET', '/executions')).toBe('open');
  expect(check('activating', 'PUT', '/sites/s1')).toBe('open');
  for (const path of ['/executions', '/deployments/d1', '/snapshots/s1', '/snapshots/s1/restore']) {
    expect(check('activating', 'POST', path)).toBe('entering_maintenance_mode');
  }
  expect(check('activating', 'PUT', '/deployments/d1/labels')).toBe('open');
});
test('the bypass header needs the permission', () => {
  expect(check('activated', 'GET', '/sites', true)).toBe('maintenance_mode_active');
  expect(check('activated', 'GET', '/sites', true, ['maintenance_mode_set'])).toBe('open');
});

test('restoring: reads and searches are answered, changes are not, whoever asks', () => {
  expect(check('restoring', 'GET', '/sites')).toBe('open');
  expect(check('restoring', 'PUT', '/sites/s1')).toBe('service_unavailable_error');
  expect(check('restoring', 'PUT', '/sites/s1', true, ['maintenance_mode_set'])).toBe(
    'service_unavailable_error',
  );
  expect(check('restoring', 'POST', '/maintenance/activate')).toBe('service_unavailable_error');
});
