import { clusterStatusRpc } from '@baton/contracts';
import { createLocalRpc } from '@baton/rpc';
import { createLockConfig } from './lock-config';

test('what somebody has set goes before the environment, and back when it is the environment again', async () => {
  const config = {
    valuesJson: JSON.stringify({ failed_logins_before_account_lock: 4, account_lock_period: 30 }),
    changed: ['account_lock_period'],
  };
  const rpc = createLocalRpc();
  rpc.serve('cluster-status', clusterStatusRpc.ClusterStatusServiceDefinition, {
    getConfig: async () => config,
  } as never);
  const { settings, refresh } = createLockConfig(rpc, { failedLoginsBeforeLock: 9, lockPeriodMinutes: -1 });
  expect(settings).toEqual({ failedLoginsBeforeLock: 9, lockPeriodMinutes: -1 });
  await refresh();
  expect(settings).toEqual({ failedLoginsBeforeLock: 9, lockPeriodMinutes: 30 });
  config.changed = [];
  await refresh();
  expect(settings).toEqual({ failedLoginsBeforeLock: 9, lockPeriodMinutes: -1 });
});
