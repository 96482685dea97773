import type { newManager } from '@baton/contracts/http/status';
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { z } from 'zod';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

/** A node of the cluster: one that reports itself, or one that an administrator entered (`is_entered`). */
export interface ManagerRow {
  id: number;
  hostname: string;
  address: string;
  version: string;
  distribution: string;
  distro_release: string;
  last_seen: string;
  /** Null where the node said nothing about it. */
  public_ip: string | null;
  edition: string | null;
  fs_sync_node_id: string | null;
  networks: Record<string, string> | null;
  ca_cert_content: string | null;
}

/** False: there is one with this hostname. */
export async function insertManager(tx: Tx<DB>, node: z.infer<typeof newManager>): Promise<boolean> {
  const { rows } = await sql`
    insert into managers (hostname, address, public_ip, version, edition, distribution, distro_release, fs_sync_node_id,
      networks, ca_cert_content, is_entered)
    values (${node.hostname}, ${node.private_ip}, ${node.public_ip}, ${node.version}, ${node.edition}, ${node.distribution},
      ${node.distro_release}, ${node.fs_sync_node_id ?? null}, ${node.networks ? JSON.stringify(node.networks) : null}::jsonb,
      ${node.ca_cert_content ?? null}, true)
    on conflict (hostname) do nothing returning id`.execute(tx);
  return rows.length > 0;
}

/** False: there is no such host. */
export async function setSyncNode(tx: Tx<DB>, hostname: string, id: string): Promise<boolean> {
  const { rows } = await sql`
    update managers set fs_sync_node_id = ${id} where hostname = ${hostname} returning id`.execute(tx);
  return rows.length > 0;
}

export async function readManagers(reader: Reader): Promise<ManagerRow[]> {
  const { rows } = await sql<ManagerRow>`select * from managers order by id`.execute(reader);
  return rows;
}

/** False: there is no such host. */
export async function deleteManager(tx: Tx<DB>, hostname: string): Promise<boolean> {
  const { rows } = await sql`delete from managers where hostname = ${hostname} returning id`.execute(tx);
  await sql`delete from instances where hostname = ${hostname}`.execute(tx);
  return rows.length > 0;
}
