import { clusterStatusRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';
import { z } from 'zod';
import type { LockSettings } from '../domain/account-lock';

/** Deadline of a read: a stopping service waits for the tick that is running. */
const DEADLINE_MS = 1_000;

const scope = z.object({
  failed_logins_before_account_lock: z.number().int().min(1),
  account_lock_period: z.number().min(-1),
});

export interface LockConfig {
  /** The settings as last read; a setting that nobody has changed has its value from the environment. */
  settings: Readonly<LockSettings>;
  /** Reads the configuration again; called when it has changed. While cluster-status does not answer, the last values stay. */
  refresh(): Promise<void>;
}

/** Account lock of scope `rest` of the manager's configuration (reference/rest-api.md 2.2). */
export function createLockConfig(rpc: RpcConnector, environment: LockSettings): LockConfig {
  const client = rpc.client(clusterStatusRpc.ClusterStatusServiceDefinition, 'cluster-status');
  const settings = { ...environment };
  return {
    settings,
    async refresh() {
      const answer = await client.getConfig({ scope: 'rest' }, { deadlineMs: DEADLINE_MS });
      const values = scope.parse(JSON.parse(answer.valuesJson));
      const isSet = (name: keyof typeof values): boolean => answer.changed.includes(name);
      settings.failedLoginsBeforeLock = isSet('failed_logins_before_account_lock')
        ? values.failed_logins_before_account_lock
        : environment.failedLoginsBeforeLock;
      settings.lockPeriodMinutes = isSet('account_lock_period')
        ? values.account_lock_period
        : environment.lockPeriodMinutes;
    },
  };
}
