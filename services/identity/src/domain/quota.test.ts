import { unlimited } from '@baton/contracts';
import { configuredLimits, limitsInForce, nothingSet } from './quota';

const defaults = { ...unlimited, deployments: 5, storageBytes: 100 };

test('what is set for a tenant goes before the default, -1 lifts it, and null leaves it', () => {
  expect(limitsInForce(defaults, nothingSet)).toEqual(defaults);
  const own = { ...nothingSet, max_deployments: -1, max_queued_executions: 0, worker_weight: 3 };
  expect(limitsInForce(defaults, own)).toEqual({
    ...defaults,
    deployments: null,
    queuedExecutions: 0,
    workerWeight: 3,
  });
});

test('0 in the configuration is no limit', () => {
  const config = {
    BATON_TENANT_MAX_DEPLOYMENTS: 5,
    BATON_TENANT_MAX_RUNNING_EXECUTIONS: 0,
    BATON_TENANT_MAX_QUEUED_EXECUTIONS: 0,
    BATON_TENANT_MAX_STORAGE_BYTES: 100,
    BATON_TENANT_MAX_REQUESTS: 0,
  };
  expect(configuredLimits(config)).toEqual(defaults);
});
