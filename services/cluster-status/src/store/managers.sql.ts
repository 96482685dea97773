import type { newManager } from '@baton/contracts/http/status';
import type { Db, Tx } from '@baton/postgres';
import type { z } from 'zod';
import { model } from './model';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

/** A node of the cluster: one that reports itself, or one that an administrator added (`is_entered`). */
export interface ManagerRow {
  id: number;
  hostname: string;
  address: string;
  version: string;
  distribution: string;
  distro_release: string;
  last_seen: string;
  /** Null when the node did not report it. */
  public_ip: string | null;
  edition: string | null;
  fs_sync_node_id: string | null;
  networks: Record<string, string> | null;
  ca_cert_content: string | null;
}

export type NewManager = z.infer<typeof newManager>;

/** Inserts a node; false when a node with this hostname exists. */
export async function insertManager(tx: Tx<DB>, node: NewManager): Promise<boolean> {
  const { private_ip: address, networks, ...rest } = node;
  const data = { ...rest, address, networks: networks ?? undefined, is_entered: true };
  const { count } = await model.over(tx, (p) => p.manager.createMany({ data, skipDuplicates: true }));
  return count > 0;
}

/** Sets the id of the node for file replication; false when no such host exists. */
export async function setSyncNode(tx: Tx<DB>, hostname: string, id: string): Promise<boolean> {
  const data = { fs_sync_node_id: id };
  const { count } = await model.over(tx, (p) => p.manager.updateMany({ where: { hostname }, data }));
  return count > 0;
}

export async function readManagers(reader: Reader): Promise<ManagerRow[]> {
  const rows = await model.over(reader, (p) => p.manager.findMany({ orderBy: { id: 'asc' } }));
  return rows.map((row) => ({
    ...row,
    last_seen: row.last_seen.toISOString(),
    networks: row.networks as ManagerRow['networks'],
  }));
}

/** Deletes a node and its processes; false when no such host exists. */
export async function deleteManager(tx: Tx<DB>, hostname: string): Promise<boolean> {
  return model.over(tx, async (p) => {
    const { count } = await p.manager.deleteMany({ where: { hostname } });
    await p.instance.deleteMany({ where: { hostname } });
    return count > 0;
  });
}
