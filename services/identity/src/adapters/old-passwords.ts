/**
 * Password hashes of imported users: PBKDF2-SHA256 over an HMAC with a salt that all users of the old manager share. The hash is kept as
 * `$pbkdf2-sha256$rounds$salt$digest$sealed`, where the last part is that common salt, sealed by a key that is not in the database.
 * It is replaced by an Argon2 hash at the first login with the good password.
 */
import { isCloudifyPasswordHash, verifyCloudifyPassword } from '@baton/cloudify-archive';
import type { Secret } from '@baton/kernel';
import type { Sealer } from '../providers/domain/sealed-text';

/** The old managers wrote 29,000 rounds. A login with more than these would take longer than one with Argon2 may. */
const MAX_ROUNDS = 200_000;
const STORED = /^(\$pbkdf2-sha256\$[^$]+\$[^$]*\$[^$]+)\$([A-Za-z0-9_-]+)$/;
const OWNER = 'imported users';

/** Whether an imported hash can be kept: its form is right, and a login costs no more than a bounded time. */
export function isOldPasswordHash(hash: string): boolean {
  return isCloudifyPasswordHash(hash) && Number(hash.split('$')[2]) <= MAX_ROUNDS;
}

/** Whether a stored hash is one of an imported user that has not signed in yet. */
export const isStoredOldHash = (stored: string): boolean => STORED.test(stored);

export interface OldPasswords {
  /** The text to store for a hash for which `isOldPasswordHash` holds. */
  stored(hash: string, commonSalt: Secret): string;
  /** Hash and common salt of a stored text, for an export; null: it is another kind, or sealed under another key. */
  open(stored: string): { hash: string; commonSalt: Secret } | null;
  /** False, too, when the salt was sealed under another key. */
  verify(stored: string, password: string): Promise<boolean>;
}

export function createOldPasswords(sealer: Sealer): OldPasswords {
  const open = (stored: string): { hash: string; commonSalt: Secret } | null => {
    const [, hash, sealed] = STORED.exec(stored) ?? [];
    if (hash === undefined || sealed === undefined) return null;
    const commonSalt = sealer.open('password salt', OWNER, Buffer.from(sealed, 'base64url'));
    return commonSalt && { hash, commonSalt };
  };
  return {
    open,
    stored: (hash, commonSalt) =>
      `${hash}$${sealer.seal('password salt', OWNER, commonSalt).toString('base64url')}`,
    verify: async (stored, password) => {
      const found = open(stored);
      if (!found || !isOldPasswordHash(found.hash)) return false;
      return await verifyCloudifyPassword(found.hash, found.commonSalt.expose(), password);
    },
  };
}

/** For services without imported users. */
export const noOldPasswords: Pick<OldPasswords, 'verify'> = { verify: async () => false };
