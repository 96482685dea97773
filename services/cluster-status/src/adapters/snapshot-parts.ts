import { snapshotsRpc } from '@baton/contracts';
import type { RpcClient, RpcConnector } from '@baton/rpc';
import { EXPORT_ORDER, type SnapshotService } from '../domain/snapshot-archive';

type Part = RpcClient<typeof snapshotsRpc.SnapshotPartServiceDefinition>;

/** Exports, rehearsals and switches of big services; a dead service is noticed by its connection. */
export const PART_DEADLINE_MS = 12 * 3_600_000;

/** The parts of a snapshot that the services have. */
export type SnapshotParts = Record<SnapshotService, Part>;

export function createSnapshotParts(rpc: RpcConnector): SnapshotParts {
  const entries = EXPORT_ORDER.map((service) => [
    service,
    rpc.client(snapshotsRpc.SnapshotPartServiceDefinition, service),
  ]);
  return Object.fromEntries(entries) as SnapshotParts;
}
