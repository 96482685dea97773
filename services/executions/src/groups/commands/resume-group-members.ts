import { isAppError } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import { type ResumeExecutionDeps, resumeExecution } from '../../engine/commands/resume-execution';
import { openTo } from '../../executions/commands/open-to';
import { lookAgain, passedIn, passOver } from '../../executions/passed-over';
import { readExecution } from '../../executions/store/executions.sql';
import { countAtWork, lockDequeue, lockStarts } from '../../executions/store/queue.sql';
import { isRunningFull, lockQuota } from '../../executions/store/quotas.sql';
import type { Ports } from '../../ports';
import type { DB } from '../../store/tables.gen';
import {
  dropWish,
  type ExecutionGroupRow,
  lockGroup,
  resumableMembers,
  updateGroup,
  wishResume,
} from '../store/execution-groups.sql';

export type ResumeGroupMembersDeps = Pick<Ports, 'db' | 'log' | 'passedOver' | 'queue' | 'wake'> &
  ResumeExecutionDeps;

type Group = Pick<ExecutionGroupRow, 'tenant' | 'id'>;

/** The most members that one call resumes. */
const BATCH = 100;

/**
 * Notes the wish to resume on all failed and cancelled members, and resumes as many as there is room for; the others follow with
 * the queue. Returns the number of members with a wish.
 */
export async function resumeGroup(
  deps: ResumeGroupMembersDeps,
  group: Group,
  wish: 'resume' | 'force-resume',
): Promise<number> {
  const { tenant, id } = group;
  const count = await deps.db.tx(async (tx) => {
    await lockGroup(tx, tenant, id);
    await updateGroup(tx, tenant, id, { has_queued: true });
    return await wishResume(tx, tenant, id, wish);
  });
  await resumeGroupMembers(deps, group);
  deps.wake.dequeue();
  return count;
}

/** The number of resumed members, and whether every tried member was resumed or never will be. */
export interface ResumedMembers {
  count: number;
  areAllTried: boolean;
}

/**
 * Resumes members that wait for it, oldest first, up to the group's concurrency and the manager's. Each resume is one transaction
 * under the lock of the group's row, which checks the member again. A crash leaves the wishes of the others, and
 * engine/loops/engine.loops.ts continues (dequeue). A member that cannot be resumed now, for example because its graph cannot be
 * read, keeps its wish and blocks neither other members nor other groups.
 */
export async function resumeGroupMembers(
  deps: ResumeGroupMembersDeps,
  group: Group,
): Promise<ResumedMembers> {
  const done: ResumedMembers = { count: 0, areAllTried: true };
  for (let tries = 0; tries < BATCH; tries++) {
    const candidate = await nextMember(deps, group);
    if (!candidate) {
      lookAgain(deps.passedOver, wishesOf(group));
      break;
    }
    const wish = (await readExecution(deps.db.query, candidate))?.resume_wish;
    const isForced = wish === 'force-resume';
    try {
      const isAllowed = (tx: Tx<DB>) => isNext(tx, deps, group, candidate);
      if (!(await resumeExecution(deps, candidate, isForced, { isAllowed }))) break;
      done.count++;
    } catch (err) {
      deps.log.warn({ err, executionId: candidate }, 'a member of a group is not resumed');
      // Deployments is unavailable: the loop tries again.
      if (isAppError(err) && err.entry.retryable) break;
      if (isAppError(err) && err.entry.http < 500) await deps.db.tx((tx) => dropWish(tx, candidate));
      else {
        passOver(deps.passedOver, wishesOf(group), candidate);
        done.areAllTried = false;
      }
    }
  }
  return done;
}

const wishesOf = ({ tenant, id }: Group): string => `resumes of ${tenant} ${id}`;

async function nextMember(deps: ResumeGroupMembersDeps, group: Group): Promise<string | null> {
  return await deps.db.tx((tx) => firstOf(tx, deps, group));
}

/** Checks again, in the transaction of the resume, that the member is the next one. */
async function isNext(tx: Tx<DB>, deps: ResumeGroupMembersDeps, group: Group, id: string): Promise<boolean> {
  return (await firstOf(tx, deps, group)) === id;
}

async function firstOf(
  tx: Tx<DB>,
  deps: ResumeGroupMembersDeps,
  { tenant, id }: Group,
): Promise<string | null> {
  if (deps.queue.isPaused()) return null;
  const quota = deps.queue.quota(tenant);
  await lockDequeue(tx);
  await lockQuota(tx, tenant, quota);
  await lockStarts(tx, false);
  const group = await lockGroup(tx, tenant, id);
  const which = await openTo(tx);
  if (!group || which === 'nothing' || (which === 'awaited' && group.parent_id === null)) return null;
  if (group.parent_id === null && (await isRunningFull(tx, tenant, quota))) return null;
  const room = deps.queue.maxConcurrent() - (await countAtWork(tx));
  const except = [...passedIn(deps.passedOver, wishesOf(group))];
  return (await resumableMembers(tx, group, Math.min(1, room), except))[0]?.id ?? null;
}
