import { ApiError } from '@baton/client';
import { call } from '../../harness/session';
import { judge } from '../judge';
import { type Asked, startOnce, toAsk } from '../load';
import { WORKERS } from '../rig';
import type { Outcome, Row, RowContext } from '../row';
import { pause, Refused, until } from '../until';

const FORCED_MS = 10_000;
const QUIET_MS = 2_000;

export const cancelRows: Row[] = [
  {
    id: 'F23',
    limitS: 200,
    title: 'cancel at random instants, also before the first claim and in the last report',
    pass: 'exactly one terminal state; an accepted cancel ends as cancelled, a refused one does not; nothing starts 2 s after it',
    run: cancelRaces,
  },
  {
    id: 'F23w',
    title: 'force-cancel with all workers dead',
    limitS: 90,
    pass: 'cancelled within 10 s',
    run: (at) =>
      forceCancel(at, async ({ rig }) => void (await Promise.all(WORKERS.map((name) => rig.kill(name))))),
  },
  {
    id: 'F23s',
    limitS: 120,
    title: 'force-cancel with workers, deployments service and RabbitMQ dead',
    pass: 'cancelled within 10 s',
    run: (at) =>
      forceCancel(at, async ({ rig }) => {
        await Promise.all([...WORKERS, 'deployments'].map((name) => rig.kill(name)));
        await rig.rabbit.kill();
      }),
  },
];

/** Starts the workflow that is available: a cancel may leave the deployment half installed or not installed. */
async function startWhatFits(rig: RowContext['rig'], deployment: string): Promise<Asked> {
  const install = toAsk(deployment);
  try {
    await startOnce(rig, install, new Map());
    return install;
  } catch (error) {
    if (!(error instanceof Refused) || !error.message.includes('unavailable_workflow_error')) throw error;
  }
  const uninstall = toAsk(deployment, 'uninstall');
  await startOnce(rig, uninstall, new Map());
  return uninstall;
}

async function cancelRaces({ rig, random, isSuite }: RowContext): Promise<Outcome> {
  const count = isSuite ? 24 : 150;
  const lanes = await rig.deployments('cancel', isSuite ? 6 : 10);
  const asked: Asked[] = [];
  const violations: string[] = [];
  const tally: Record<string, number> = { cancelled: 0, terminated: 0, refused: 0 };
  const lane = async (deployment: string): Promise<void> => {
    for (let i = 0; i < count / lanes.length; i++) {
      const one = await startWhatFits(rig, deployment);
      asked.push(one);
      const [executionId = ''] = one.ids;
      await pause(random.chance(0.3) ? random.below(60) : random.below(6_000));
      const action = random.pick(['cancel', 'force-cancel', 'kill']);
      const ack = await act(rig, executionId, action);
      const ackedAt = Date.now();
      const status = await until(`end of ${executionId} after ${action}`, 60_000, async () => {
        const execution = await call(rig.client, 'getExecution', { executionId });
        return ['terminated', 'failed', 'cancelled'].includes(execution.status)
          ? (execution.status as string)
          : null;
      });
      tally[ack ? status : 'refused']!++;
      if (ack && status !== 'cancelled')
        violations.push(`F23: ${action} of ${executionId} was accepted, it is ${status}`);
      if (!ack && status === 'cancelled')
        violations.push(`F23: ${action} of ${executionId} was refused, it is cancelled`);
      if (ack) late.push({ executionId, ackedAt });
    }
  };
  const late: { executionId: string; ackedAt: number }[] = [];
  await Promise.all(
    lanes.map((deployment) => lane(deployment).catch((error: Error) => violations.push(error.message))),
  );
  const runs = rig.ledger.runs();
  for (const { executionId, ackedAt } of late) {
    const begun = runs.filter((run) => run.execution === executionId && run.startedAt > ackedAt + QUIET_MS);
    if (begun.length > 0)
      violations.push(
        `G3: ${begun.length} operations of ${executionId} began later than 2 s after its cancel`,
      );
  }
  if (tally.cancelled! < 5) violations.push(`floor: only ${tally.cancelled} were cancelled`);
  const verdict = await judge(rig, asked, { allowed: ['terminated', 'cancelled'] });
  return {
    violations: [...violations, ...verdict.violations],
    facts: { ...tally, executions: verdict.executions },
  };
}

/** Returns true when the cancel was accepted, false when it came too late. */
async function act(rig: RowContext['rig'], executionId: string, action: string): Promise<boolean> {
  try {
    await call(rig.client, 'actOnExecution', { executionId }, { action });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.errorCode === 'illegal_action_error') return false;
    throw error;
  }
}

async function forceCancel(at: RowContext, strike: (at: RowContext) => Promise<void>): Promise<Outcome> {
  const { rig } = at;
  const violations: string[] = [];
  const asked = (await rig.deployments('force', 5)).map((deployment) => toAsk(deployment));
  await Promise.all(asked.map((one) => startOnce(rig, one, new Map())));
  const ids = asked.flatMap((one) => [...one.ids]);
  const busy = await until(
    'operations under way',
    60_000,
    () => {
      const held = rig.ledger.inFlight().filter((run) => ids.includes(run.execution));
      return held.length >= 2 ? held : null;
    },
    20,
  );
  await strike(at);
  const since = performance.now();
  const limit = Promise.all(
    ids.map(async (executionId) => {
      if (!(await act(rig, executionId, 'force-cancel'))) return 0;
      await until(`${executionId} cancelled`, 30_000, async () => {
        const { status } = await call(rig.client, 'getExecution', { executionId });
        return status === 'cancelled';
      });
      return performance.now() - since;
    }),
  );
  const slowest = await limit
    .then((all) => Math.max(...all))
    .catch((error: Error) => {
      violations.push(error.message);
      return Number.NaN;
    });
  if (slowest > FORCED_MS)
    violations.push(`G3: force-cancel took ${(slowest / 1000).toFixed(1)} s, allowed 10 s`);
  await rig.rabbit.start().catch(() => undefined);
  await rig.heal();
  const verdict = await judge(rig, asked, { allowed: ['cancelled', 'terminated'] });
  return {
    violations: [...violations, ...verdict.violations],
    facts: {
      'in flight': busy.length,
      'cancelled within': `${(slowest / 1000).toFixed(1)} s`,
      executions: verdict.executions,
    },
  };
}
