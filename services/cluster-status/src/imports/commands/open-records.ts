import {
  type Archive,
  type ArchiveRecord,
  type RecordStream,
  records,
  type Skipped,
} from '@baton/cloudify-archive';
import type { ImportOptions } from '@baton/contracts';
import type { ArchiveKeys } from './import-keys';
import { bundleRecords, readHeader } from './read-bundle';

/** Records of an archive of any kind, in restore order. */
export interface OpenedRecords extends AsyncIterable<ArchiveRecord> {
  readonly tally: Pick<RecordStream['tally'], 'types' | 'unknownFields' | 'statements'>;
}

/** @throws ArchiveRefused */
export async function openRecords(
  archive: Archive,
  { options, keys }: { options: ImportOptions; keys: ArchiveKeys },
  onSkip: (skipped: Skipped) => void = () => undefined,
): Promise<OpenedRecords> {
  const header = await readHeader(archive);
  if (header) return bundleRecords(archive, header, { passphrase: keys.passphrase, onSkip });
  return records(archive, {
    ...(keys.encryption_key === undefined ? {} : { encryptionKey: keys.encryption_key }),
    roles: options.roles,
    onSkip,
  });
}
