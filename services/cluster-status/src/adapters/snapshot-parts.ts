import { snapshotsRpc } from '@baton/contracts';
import type { RpcClient, RpcConnector } from '@baton/rpc';
import { EXPORT_ORDER, type SnapshotService } from '../domain/snapshot-archive';

type Part = RpcClient<typeof snapshotsRpc.SnapshotPartServiceDefinition>;

/** Deadline of exports, rehearsals and switches of big services. A dead service is noticed earlier, by its closed connection. */
export const PART_DEADLINE_MS = 12 * 3_600_000;

/** Clients of the snapshot part of each service. */
export type SnapshotParts = Record<SnapshotService, Part>;

export function createSnapshotParts(rpc: RpcConnector): SnapshotParts {
  const entries = EXPORT_ORDER.map((service) => [
    service,
    rpc.client(snapshotsRpc.SnapshotPartServiceDefinition, service),
  ]);
  return Object.fromEntries(entries) as SnapshotParts;
}
