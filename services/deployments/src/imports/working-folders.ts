import { buffer } from 'node:stream/consumers';
import type { BlobStore } from '@baton/blob-store';
import { type ImportContext, sharedMap } from '@baton/import-part';
import { isAppError, isJsonObject, type JsonObject, newId } from '@baton/kernel';
import { takenDeployments } from './records';

/** Archive of a working folder in the blob store. */
export interface Workdir {
  digest: string;
  /** Bytes. */
  size: number;
}

const DIGEST = /^[0-9a-f]{64}$/;
/** Most bytes of an archive: as many as the working folder of a deployment has in an answer. */
export const MAX_WORKDIR_BYTES = 32 * 1024 * 1024;

/** Returns the archive that the record of a deployment names; null: none. */
export function workdirOf(item: JsonObject): Workdir | null {
  const { workdir } = item;
  if (!isJsonObject(workdir)) return null;
  const { digest, size } = workdir;
  return typeof digest === 'string' && DIGEST.test(digest) && typeof size === 'number'
    ? { digest, size }
    : null;
}

/** Archives to be unpacked, by deployment. */
export const wantedWorkdirs = (context: ImportContext): Map<string, Workdir> =>
  sharedMap<Workdir>(context, `workdirs of ${context.tenant}`);

/**
 * Hands the archives of working folders to the loop that lets the catalog unpack them (loops/unpack-workdirs.loop.ts), which also
 * holds them to the limits of folders. A rehearsal leaves them where they are.
 */
export async function keepWorkdirs(context: ImportContext, blobs: Pick<BlobStore, 'open'>): Promise<void> {
  if (context.isRehearsal) return;
  for (const [id, { digest }] of wantedWorkdirs(context)) {
    const { key, fate } = takenDeployments(context).get(id)!;
    if (fate === 'lost') continue;
    const archive = await contentOf(blobs, digest);
    if (archive)
      await context.client.query(
        'insert into waiting_workdirs (deployment_key, request_id, archive) values ($1, $2, $3)',
        [key, newId(), archive],
      );
    else
      context.note(
        `${context.tenant}: the working folder of deployment ${id} is not in the blob store any more`,
      );
  }
}

async function contentOf(blobs: Pick<BlobStore, 'open'>, digest: string): Promise<Buffer | null> {
  try {
    return await buffer(await blobs.open(digest));
  } catch (error) {
    if (isAppError(error, 'not_found_error')) return null;
    throw error;
  }
}
