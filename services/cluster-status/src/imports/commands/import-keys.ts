import { AppError, Secret } from '@baton/kernel';
import { useOfImport } from '../domain/kept-keys';
import type { ImportRow } from '../store/imports.sql';
import type { ImportDeps } from './import-deps';

export interface ArchiveKeys {
  encryption_key?: string;
  hash_salt?: string;
  passphrase?: string;
}

/** Keys are sealed for their import: nothing else opens them. */
const sealOf = (id: string) => ({ tenant: '', use: useOfImport(id) });

export async function sealKeys(
  { seals }: Pick<ImportDeps, 'seals'>,
  id: string,
  keys: ArchiveKeys,
): Promise<Buffer | null> {
  const given = Object.values(keys).some((key) => key !== undefined);
  return given ? await seals.seal(sealOf(id), new Secret(JSON.stringify(keys))) : null;
}

/** @throws AppError conflict_error where the master key that sealed them is not configured any more */
export async function openKeys(
  { seals }: Pick<ImportDeps, 'seals'>,
  { id, sealed }: Pick<ImportRow, 'id' | 'sealed'>,
): Promise<ArchiveKeys> {
  if (sealed === null) return {};
  const opened = await seals.open(sealOf(id), sealed);
  if (!opened)
    throw new AppError(
      'conflict_error',
      'The keys of the archive cannot be opened any more: give them again with a check',
    );
  return JSON.parse(opened.text.expose()) as ArchiveKeys;
}
