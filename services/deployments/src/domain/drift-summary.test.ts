import { type DriftChange, summarizeDrift } from './drift-summary';

const change = (instance: string, isDrifted: boolean, more: Partial<DriftChange> = {}): DriftChange => ({
  tenant: 't',
  deployment_id: 'd',
  blueprint_id: 'b',
  instance_id: instance,
  is_drifted: isDrifted,
  changed_at: '2026-01-01T00:00:00.000Z',
  drifted_now: 2,
  ...more,
});

test('a deployment is told once, with the last change of each instance', () => {
  const later = '2026-01-01T00:00:01.000Z';
  expect(
    summarizeDrift([
      change('a', true, { changed_at: later }),
      change('b', false),
      change('c', true),
      change('c', false),
    ]),
  ).toEqual([
    {
      tenant: 't',
      deploymentId: 'd',
      blueprintId: 'b',
      driftedInstances: 2,
      newlyDrifted: 1,
      noLongerDrifted: 2,
      changedAt: later,
    },
  ]);
});

test('deployments of the same name in two tenants are two, and one that is gone is none', () => {
  const changes = [
    change('a', true, { blueprint_id: null }),
    change('a', true, { tenant: 'other' }),
    change('x', true, { deployment_id: null }),
  ];
  expect(summarizeDrift(changes)).toMatchObject([
    { tenant: 't', deploymentId: 'd', blueprintId: undefined },
    { tenant: 'other', deploymentId: 'd' },
  ]);
});
