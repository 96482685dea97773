import { notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { findArchive } from '../store/archives.sql';
import { type DownloadRow, findDownload } from '../store/blueprints.sql';
import type { DB } from '../store/tables.gen';

/** Returns the archive's row of a blueprint that `who` may see. @throws AppError not_found_error */
export async function archiveOfBlueprint(
  db: Db<DB>,
  who: { tenant: string; username: string; isAdministrator: boolean },
  id: string,
): Promise<DownloadRow> {
  const found = await findDownload(db.query, who, id);
  if (found === null) throw notFound('Blueprint', id);
  return found;
}

/** Returns the file extension for downloads of an archive. */
export const kindOfArchive = async (db: Db<DB>, digest: string): Promise<string> =>
  (await findArchive(db.query, digest))?.kind ?? 'zip';
