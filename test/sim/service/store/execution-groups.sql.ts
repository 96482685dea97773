import type * as real from '../../../../services/executions/src/groups/store/execution-groups.sql';
import { change, holdNamed } from '../database';
import { databaseOf, hold, memoryTx, statement } from './access';
import { isAnyWaiting, mayStart, startable } from './queue.sql';

export const groupsWithRoom: typeof real.groupsWithRoom = async (reader, limit, which, { except }) => {
  await statement(reader);
  return [...databaseOf(reader).groups.values()]
    .filter(({ tenant, id, has_queued }) => has_queued && !except.includes(`${tenant}/${id}`))
    .filter((group) => startable(reader, group, 1, { which }).length > 0 || !isAnyWaiting(reader, group.id))
    .slice(0, limit);
};

export const lockGroup: typeof real.lockGroup = async (handle, tenant, id) => {
  const tx = memoryTx(handle);
  await holdNamed(tx, `group ${tenant} ${id}`);
  return tx.database.groups.get(id) ?? null;
};

export const updateGroup: typeof real.updateGroup = async (handle, _tenant, id, edit) => {
  const tx = memoryTx(handle);
  await statement(tx);
  const { groups } = tx.database;
  tx.others.push(() => void groups.set(id, { ...groups.get(id)!, ...edit }));
};

export const hasQueuedMembers: typeof real.hasQueuedMembers = async (tx, _tenant, id) => {
  await statement(tx);
  return isAnyWaiting(tx, id);
};

export const startableMembers: typeof real.startableMembers = async (reader, group, room, of) => {
  await statement(reader);
  return startable(reader, group, room, of);
};

export const lockGuards: typeof real.lockGuards = async (handle, tenant, deploymentIds) => {
  const tx = memoryTx(handle);
  for (const id of [...new Set(deploymentIds)].sort()) await holdNamed(tx, `guard ${tenant} ${id}`);
};

export const startMembers: typeof real.startMembers = async (handle, ids, which) => {
  const tx = memoryTx(handle);
  const started = [];
  for (const id of [...ids].sort()) {
    const seen = await hold(tx, id);
    if (!seen || !mayStart(tx, seen.row, which)) continue;
    change(tx, id, (execution) => {
      execution.row = { ...execution.row, status: 'pending', phase: 'planning' };
    });
    started.push(seen.row);
  }
  return started;
};

/** Groups are never resumed here. */
export const resumableMembers: typeof real.resumableMembers = async (reader) => {
  await statement(reader);
  return [];
};
export const dropWish: typeof real.dropWish = async (tx) => {
  await statement(tx);
  return null;
};
export const endedBadly: typeof real.endedBadly = async () => [];
