import type { Db } from '@baton/postgres';
import type { ExecutionRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { hashToken, readAgentToken } from '../domain/token';
import {
  activeOfDeployment,
  executionByToken,
  latestExecutions,
  readExecution,
} from '../store/executions.sql';
import { tenantUsage } from '../store/quotas.sql';

type Query = Db<DB>['query'];

/**
 * Returns the execution whose operations call with this token; null when the execution has ended or does not exist. `instances`: the
 * node instances that an agent's token may change; null: no agent got the token.
 */
export async function executionOfToken(
  db: Query,
  key: string,
  token: string,
): Promise<{ execution: ExecutionRow; instances: readonly string[] | null } | null> {
  const atAgent = readAgentToken(key, token);
  const execution = atAgent
    ? await readExecution(db, atAgent.executionId)
    : await executionByToken(db, hashToken(token));
  return execution && execution.phase !== 'ended'
    ? { execution, instances: atAgent?.instances ?? null }
    : null;
}

/** Returns the executions of a deployment that have not ended, oldest first. */
export const unendedOf = (db: Query, tenant: string, deploymentId: string): Promise<ExecutionRow[]> =>
  activeOfDeployment(db, tenant, deploymentId);

/** Returns the latest execution of each of these deployments. */
export const latestOf = (db: Query, tenant: string, deploymentIds: string[]): Promise<ExecutionRow[]> =>
  latestExecutions(db, tenant, deploymentIds);

/** Counts the executions of the tenant that are at work and that wait, as its quota counts them. */
export const usageOf = (db: Query, tenant: string): Promise<{ running: number; queued: number }> =>
  tenantUsage(db, tenant);
