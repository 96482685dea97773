// Cost of losing a worker: an install in which one of three workers is killed at half of the tasks, compared with undisturbed
// ones.
import { setTimeout as pause } from 'node:timers/promises';
import type { Shape } from '../harness/blueprints';
import { allEnded, runAll, start } from '../harness/executions';
import { type Manager, putDeployment } from '../harness/manager';
import { columns, type Plan } from '../harness/report';
import { rounded } from '../harness/statistics';

/** Lease of an operation: operations that the worker had begun run again after this time at the latest. */
const LEASE_S = 15;
/** Limit of the project: this factor, plus one lease. */
const FACTOR = 1.2;
const LIMIT_MS = 60_000;
const POLL_MS = 10;

/** Measures an install with a killed worker. @throws Error when the execution had ended before its worker could be killed */
export async function killedWorker(
  plan: Plan,
  manager: Manager,
  shape: Shape,
  title: string,
): Promise<object> {
  await putDeployment(manager, 'calm', shape.name);
  await putDeployment(manager, 'disturbed', shape.name);
  const calm = await runAll(manager, ['calm'], {}, LIMIT_MS);
  const id = await start(manager, 'disturbed');
  const atPercent = await killAtHalf(manager, id, calm.operations);
  const { seconds } = await allEnded(manager, [id], LIMIT_MS);
  const bar = FACTOR * calm.seconds + LEASE_S;
  plan.say(
    columns(
      title,
      `calm ${rounded(calm.seconds)}s`,
      `killed at ${atPercent} %: ${rounded(seconds)}s`,
      `bar ${rounded(bar)}s`,
    ),
  );
  return {
    operations: shape.operations,
    calmSeconds: rounded(calm.seconds),
    killedAtPercent: atPercent,
    seconds: rounded(seconds),
    barSeconds: rounded(bar),
    isMet: seconds <= bar,
  };
}

/** Kills a worker as soon as half of the tasks have ended; returns the actual percentage. */
async function killAtHalf(manager: Manager, executionId: string, all: number): Promise<number> {
  const victim = workerPids(manager)[0];
  if (victim === undefined) throw new Error('there is no worker to kill');
  for (;;) {
    const { rows } = await manager.pool.query(
      `select phase, coalesce(finished_operations, 0) as finished from executions.executions where id = $1`,
      [executionId],
    );
    const { phase, finished } = rows[0];
    if (phase === 'ended') throw new Error('the install ended before its worker could be killed');
    if (finished >= all / 2) {
      process.kill(victim, 'SIGKILL');
      return Math.round((finished / all) * 100);
    }
    await pause(POLL_MS);
  }
}

/** Returns the pids of workers. Workers of the standalone are its child processes; it replaces one that dies. */
function workerPids(manager: Manager): number[] {
  const own = manager.fleet.workers().map((worker) => worker.pid());
  const children = [...manager.pids()].filter(([name]) => name.startsWith('child-')).map(([, pid]) => pid);
  return [...own, ...children].filter((pid) => pid !== null);
}
