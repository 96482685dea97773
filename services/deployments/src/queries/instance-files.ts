import type { Readable } from 'node:stream';
import type { BlobStore } from '@baton/blob-store';
import type { Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import type { AnyQuery, Db } from '@baton/postgres';
import { sql } from 'kysely';
import { withoutSalt } from '../adapters/salted-content';
import { findContent, type InstanceFile, listFiles } from '../store/instance-files.sql';
import type { DB } from '../store/tables.gen';
import { instanceScope } from './list-node-instances';

/**
 * Requires an instance of the caller's own tenant that the caller may see. Files of global deployments stay in their tenant: they may
 * hold secrets.
 * @throws AppError not_found_error
 */
export async function requireOwnInstance(db: AnyQuery, principal: Principal, id: string): Promise<void> {
  const { rows } =
    await sql`select from node_instances ni where ni.id = ${id} and ni.tenant = ${principal.tenant}
    and ${instanceScope(principal)}`.execute(db);
  if (rows.length === 0) throw notFound('NodeInstance', id);
}

/** Lists the files of an instance. @throws AppError not_found_error */
export async function filesOfInstance(
  db: AnyQuery,
  principal: Principal,
  id: string,
): Promise<InstanceFile[]> {
  await requireOwnInstance(db, principal, id);
  return await listFiles(db, principal.tenant, id);
}

/** Opens the content of a file. @throws AppError not_found_error */
export async function openFile(
  { db, blobs }: { db: Db<DB>; blobs: BlobStore },
  principal: Principal,
  instanceId: string,
  name: string,
): Promise<{ stream: Readable; size: number }> {
  await requireOwnInstance(db.query, principal, instanceId);
  const found = await findContent(db.query, { tenant: principal.tenant, instanceId, name });
  if (found === null) throw notFound('NodeInstanceFile', name);
  return { stream: withoutSalt(await blobs.open(found.blob_digest)), size: found.size };
}
