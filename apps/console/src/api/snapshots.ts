/** Snapshots of the manager. */
import type { Client, Schemas } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { listOf } from './lists';

const FIELDS = ['id', 'status', 'error', 'created_at', 'created_by'] as const;
export type SnapshotRow = Pick<Schemas['Snapshot'], (typeof FIELDS)[number]>;

/** Reloaded when an execution ends: that execution may have created a snapshot. */
export const snapshotList = listOf<SnapshotRow>('snapshots', 'listSnapshots', FIELDS);

export const restoreStatusQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: ['snapshots', tenant, 'restore'],
    queryFn: async ({ signal }): Promise<boolean> =>
      (await client.call('getSnapshotStatus', { signal })).status === 'running',
  });
