import type { Blob } from '../model/record';
import type { RecordType } from '../model/types';
import type { Archive } from '../open-archive';
import type { Value } from '../value';

const FOLDERS: Partial<Record<RecordType, string>> = {
  blueprints: 'blueprints',
  plugins: 'plugins',
  deployments: 'deployments',
};
const ENDINGS = ['.tar.gz', '.zip', '.tgz', '.tar', '.tar.bz2', '.b64zip'];

/** The file that belongs to an object of the new layouts; null where it has none, as a deployment with an empty folder. */
export function blobOf(
  archive: Archive,
  type: RecordType,
  tenant: string | null,
  id: Value | undefined,
): Blob | null {
  const folder = FOLDERS[type];
  if (folder === undefined || tenant === null || typeof id !== 'string') return null;
  for (const place of [folder, `${folder}_archives`]) {
    for (const ending of ENDINGS) {
      const file = `tenants/${tenant}/${place}/${id}${ending}`;
      if (archive.entries.has(file)) return { kind: ending === '.b64zip' ? 'base64' : 'file', name: file };
    }
  }
  return null;
}
