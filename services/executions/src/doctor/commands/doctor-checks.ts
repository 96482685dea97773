import { executionRequested } from '@baton/contracts';
import { isAppError } from '@baton/kernel';
import { type Db, outbox, type Tx } from '@baton/postgres';
import { deliverStates } from '../../engine/commands/deliver-states';
import { goOn } from '../../engine/commands/go-on';
import { setStatus } from '../../engine/commands/set-status';
import { type TellOwedEndsDeps, tellEnd } from '../../engine/commands/tell-owed-ends';
import { wakeForgotten } from '../../engine/commands/wake-deferred';
import { wakeExecution } from '../../engine/commands/wake-executions';
import { reopenChunk, wrongChunks } from '../../events/store/event-chunks.sql';
import { requestedOf } from '../../executions/domain/requested';
import { lockExecution, readExecution } from '../../executions/store/executions.sql';
import type { Ports } from '../../ports';
import { type FireSchedulesDeps, fireSchedules } from '../../schedules/commands/fire-schedules';
import { scheduleTimes } from '../../schedules/domain/schedule';
import { advanceSchedule, lockSchedule } from '../../schedules/store/schedules.sql';
import { readNowMs } from '../../store/clock.sql';
import type { DB } from '../../store/tables.gen';
import {
  type Broken,
  brokenSequences,
  dateDispatch,
  deleteOrphanedTask,
  dropStates,
  expireLease,
  forgottenDeferrals,
  forgottenGroups,
  lateSchedules,
  lostDispatches,
  lostGraphs,
  lostLeases,
  lostTimers,
  markQueued,
  mendSequence,
  orphanedTasks,
  raiseVersion,
  recount,
  schedulesWithoutNext,
  setTimer,
  stoodStill,
  undelivered,
  wronglyLatest,
  wrongTotals,
} from '../store/doctor.sql';

export type DoctorChecksDeps = Pick<Ports, 'db' | 'deployments'> & TellOwedEndsDeps & FireSchedulesDeps;

/** One kind of damage: the query that finds it, and its repair. Repairs check again under the lock and may be repeated. */
export interface DoctorCheck {
  name: string;
  repair: string;
  find(deps: DoctorChecksDeps): Promise<Broken[]>;
  mend(deps: DoctorChecksDeps, id: string): Promise<void>;
}

/** The most findings of one kind at once. */
const MAX_FOUND = 100;

const stored =
  (find: (db: Db<DB>['query']) => Promise<Broken[]>) =>
  (deps: DoctorChecksDeps): Promise<Broken[]> =>
    find(deps.db.query);
const inTx =
  (mend: (tx: Tx<DB>, id: string) => Promise<void>) =>
  (deps: DoctorChecksDeps, id: string): Promise<void> =>
    deps.db.tx((tx) => mend(tx, id));

export const doctorChecks: readonly DoctorCheck[] = [
  {
    name: 'lease-lost',
    repair: 'the lease is over: the operation is given to another worker',
    find: stored(lostLeases),
    mend: inTx(expireLease),
  },
  {
    name: 'dispatch-lost',
    repair: 'the operation is announced again',
    find: stored(lostDispatches),
    mend: inTx(dateDispatch),
  },
  {
    name: 'timer-lost',
    repair: 'the timer is set again',
    find: stored(lostTimers),
    async mend(deps, id) {
      await deps.db.tx((tx) => setTimer(tx, id));
      await wakeExecution(deps, id);
    },
  },
  {
    name: 'deferral-forgotten',
    repair: 'the operation looks again',
    find: stored(forgottenDeferrals),
    mend: async (deps) => void (await wakeForgotten(deps)),
  },
  {
    name: 'no-progress',
    repair: 'the graph is read anew: it goes on, or ends as failed and can be resumed',
    find: stored(stoodStill),
    async mend(deps, id) {
      await deps.db.tx(async (tx) => {
        if (await lockExecution(tx, id)) await raiseVersion(tx, id);
      });
      await goOn(deps, id);
    },
  },
  {
    name: 'graph-lost',
    repair: 'the execution ends as failed',
    find: stored(lostGraphs),
    mend: (deps, id) => setStatus(deps, id, 'failed', 'Its task graph is gone'),
  },
  {
    name: 'task-orphaned',
    repair: 'the row is deleted',
    find: stored(orphanedTasks),
    mend: inTx(deleteOrphanedTask),
  },
  {
    name: 'states-undelivered',
    repair: 'they are delivered; those of a deployment that is gone are dropped',
    find: stored(undelivered),
    mend: deliverOrDrop,
  },
  {
    name: 'event-sequence',
    repair: 'counting goes on behind the last event',
    find: stored(brokenSequences),
    mend: inTx(mendSequence),
  },
  {
    name: 'group-forgotten',
    repair: 'its members are looked for again',
    find: stored(forgottenGroups),
    async mend(deps, id) {
      await deps.db.tx((tx) => markQueued(tx, id));
      deps.wake.dequeue();
    },
  },
  {
    name: 'total-wrong',
    repair: 'the executions of the tenant are counted',
    find: stored(wrongTotals),
    mend: inTx(recount),
  },
  {
    name: 'event-total-wrong',
    repair: 'the events of that time are counted again',
    find: stored((db) => wrongChunks(db, MAX_FOUND)),
    mend: inTx(reopenChunk),
  },
  {
    name: 'latest-execution',
    repair: 'deployments is told again',
    find: findWronglyLatest,
    mend: tellAgain,
  },
  {
    name: 'schedule-late',
    repair: 'its occurrences are decided now',
    find: async (deps) => (deps.queue.isPaused() ? [] : await lateSchedules(deps.db.query)),
    mend: async (deps) => void (await fireSchedules(deps)),
  },
  {
    name: 'schedule-without-next',
    repair: 'its next occurrence is found anew',
    find: findWithoutNext,
    mend: inTx(async (tx, key) => {
      const schedule = await lockSchedule(tx, key);
      if (schedule?.next_occurrence !== null) return;
      await advanceSchedule(tx, key, {
        nextMs: scheduleTimes(schedule).next(await readNowMs(tx)),
        isStopped: false,
      });
    }),
  },
];

/** Compares the latest execution that each deployment shows with the stored ones, a page at a time. */
async function findWronglyLatest(deps: DoctorChecksDeps): Promise<Broken[]> {
  const found: Broken[] = [];
  let after = 0;
  do {
    const page = await deps.deployments.latestExecutions(after);
    found.push(...(await wronglyLatest(deps.db.query, page.deployments)));
    after = page.next;
  } while (after !== 0 && found.length < MAX_FOUND);
  return found.slice(0, MAX_FOUND);
}

async function tellAgain(deps: DoctorChecksDeps, id: string): Promise<void> {
  const execution = await readExecution(deps.db.query, id);
  if (!execution) return;
  const { phase, tenant } = execution;
  if (phase === 'ended') return await tellEnd(deps, execution);
  const payload = requestedOf(execution, execution.is_resumed || undefined);
  await deps.db.tx((tx) => outbox.append(tx, executionRequested, { tenant, key: id }, payload));
}

async function deliverOrDrop(deps: DoctorChecksDeps, id: string): Promise<void> {
  try {
    await deliverStates(deps, [id]);
  } catch (error) {
    if (!isAppError(error, 'not_found_error')) throw error;
    await deps.db.tx((tx) => dropStates(tx, id));
  }
}

async function findWithoutNext(deps: DoctorChecksDeps): Promise<Broken[]> {
  const found: Broken[] = [];
  for (const { key } of await schedulesWithoutNext(deps.db.query)) {
    const broken = await deps.db.tx(async (tx): Promise<Broken | null> => {
      const schedule = await lockSchedule(tx, key);
      if (schedule?.next_occurrence !== null) return null;
      const next = nextOf(schedule, await readNowMs(tx));
      return next === null
        ? null
        : {
            id: key,
            about: `schedule ${schedule.id} of ${schedule.deployment_id} would run at ${new Date(next).toISOString()}`,
          };
    });
    if (broken) found.push(broken);
  }
  return found;
}

/** Returns the next time of a schedule. A schedule with a broken rule has none; the tick has disabled such a schedule. */
function nextOf(schedule: Parameters<typeof scheduleTimes>[0], nowMs: number): number | null {
  try {
    return scheduleTimes(schedule).next(nowMs);
  } catch (error) {
    if (isAppError(error, 'bad_parameters_error')) return null;
    throw error;
  }
}
