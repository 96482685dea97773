import { setTimeout as pause } from 'node:timers/promises';
import { call } from '../../test/harness/session';
import type { Manager } from './manager';

export interface Finished {
  /** From the creation of the first execution to the end of the last one, by the database clock. */
  seconds: number;
  /** Number of operations as counted by the engine. */
  operations: number;
}

const POLL_MS = 40;

/** Starts a workflow; returns the id of the execution. */
export async function start(manager: Manager, deploymentId: string, more: object = {}): Promise<string> {
  const body = { deployment_id: deploymentId, workflow_id: 'install', ...more };
  return (await call(manager.client, 'startExecution', {}, body)).id;
}

/** Waits until all have ended. @throws Error when one ended with a status other than terminated, or after `limitMs` */
export async function allEnded(manager: Manager, ids: readonly string[], limitMs: number): Promise<Finished> {
  const until = performance.now() + limitMs;
  for (;;) {
    const { rows } = await manager.pool.query(
      {
        name: 'ended',
        text: `select count(*) filter (where phase = 'ended')::int as ended,
          count(*) filter (where phase = 'ended' and status <> 'terminated')::int as failed,
          extract(epoch from max(ended_at) - min(created_at))::float8 as seconds, sum(total_operations)::int as operations,
          max(error) as error from executions.executions where id = any($1::uuid[])`,
      },
      [ids],
    );
    const { ended, failed, seconds, operations, error } = rows[0];
    if (failed > 0) throw new Error(`${failed} of ${ids.length} executions failed: ${error}`);
    if (ended === ids.length) return { seconds, operations };
    if (performance.now() > until)
      throw new Error(
        `${ids.length - ended} of ${ids.length} executions did not end within ${limitMs / 1000} s`,
      );
    await pause(POLL_MS);
  }
}

/** Installs these deployments in parallel, or carries out `request` on each. */
export async function runAll(
  manager: Manager,
  deployments: readonly string[],
  request: object = {},
  limitMs = 45_000,
): Promise<Finished> {
  const ids = await Promise.all(deployments.map((id) => start(manager, id, request)));
  return await allEnded(manager, ids, limitMs);
}
