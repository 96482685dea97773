import type { TenantQuota } from '../../api/people';
import { quotaChange, quotaFault, quotaTexts } from './quota';

const limit = (own: number | null) => ({ limit: 10, own, usage: 3 });
const quota: TenantQuota = {
  tenant_name: 'shop',
  max_deployments: limit(5),
  max_running_executions: limit(null),
  max_queued_executions: limit(null),
  max_storage_bytes: limit(0),
  max_requests_per_minute: limit(null),
  worker_weight: null,
};

test('a form has what was set for the tenant, not what is usual', () =>
  expect(quotaTexts(quota)).toMatchObject({
    max_deployments: '5',
    max_running_executions: '',
    max_storage_bytes: '0',
    worker_weight: '',
  }));

test('only what differs is sent, and an empty field takes the limit away', () => {
  const before = quotaTexts(quota);
  const after = { ...before, max_deployments: '', worker_weight: '2.5' };
  expect(quotaChange(before, after)).toEqual({ max_deployments: null, worker_weight: 2.5 });
  expect(quotaChange(before, before)).toEqual({});
});

test.each([
  ['max_deployments', '12', null],
  ['max_deployments', '', null],
  ['max_deployments', '-1', 'whole'],
  ['max_deployments', '1.5', 'whole'],
  ['worker_weight', '0.5', null],
  ['worker_weight', '0', 'positive'],
  ['worker_weight', 'much', 'positive'],
] as const)('%s of %j: %s', (name, text, fault) => expect(quotaFault(name, text)).toBe(fault));
