import type { Db } from '@baton/postgres';
import { failingState } from '../domain/upload.machine';
import type { DB } from '../store/tables.gen';
import { failUpload, lockStuckUpload } from '../store/uploads.sql';
import { announceUploadEnd } from './announce-upload-end';

/** Ends an upload that no replica continues (the doctor asks for it); does nothing when a replica has continued it meanwhile. */
export async function giveUpUpload({ db }: { db: Db<DB> }, uploadId: string): Promise<void> {
  await db.tx(async (tx) => {
    const upload = await lockStuckUpload(tx, uploadId);
    if (!upload) return;
    const fault = { error: 'Given up: nobody went on with it', traceback: null, diagnostics: null };
    const to = failingState(upload.state, 'notParsed');
    if (await failUpload(tx, uploadId, upload.lease_owner, upload.state, to, fault))
      await announceUploadEnd(tx, uploadId);
  });
}
