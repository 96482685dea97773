import { ArchiveRefused } from '../archive-refused';
import { parseJson } from '../json/parse-json';
import type { Archive } from '../open-archive';
import { isObject, type ValueObject } from '../value';

const FILE = 'rest-security.conf';

/** What rest-security.conf of a legacy archive holds. All of it is secret. */
export interface SecurityConfiguration {
  /** Of passwords, for `verifyCloudifyPassword`. */
  hashSalt: string | null;
  /** Of secrets, url-safe base64. */
  encryptionKey: string | null;
}

/** Null where the archive has no such file, as in the new layout. @throws ArchiveRefused json, with the file */
export async function readSecurityConfiguration(archive: Archive): Promise<SecurityConfiguration | null> {
  if (!archive.entries.has(FILE)) return null;
  const place = { file: FILE };
  const { value } = parseJson(await archive.readSmall(FILE), place, archive.limits.maxDepth);
  if (!isObject(value))
    throw new ArchiveRefused('json', 'expected an object with hash_salt and encryption_key', place);
  return { hashSalt: textOf(value, 'hash_salt'), encryptionKey: textOf(value, 'encryption_key') };
}

const textOf = (value: ValueObject, member: string): string | null =>
  typeof value[member] === 'string' ? value[member] : null;
