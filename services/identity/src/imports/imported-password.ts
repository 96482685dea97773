import type { Fate, ImportContext } from '@baton/import-part';
import { Secret } from '@baton/kernel';
import { isOldPasswordHash, type OldPasswords } from '../adapters/old-passwords';
import { isPasswordHash, type Passwords } from '../adapters/passwords';
import { randomText } from '../domain/token';
import type { UserRecord } from './records';

export interface ImportedPasswords {
  /** The hash to store for a user, and what the report tells about it. */
  of(
    context: Pick<ImportContext, 'options'>,
    user: UserRecord,
  ): Promise<{ hash: string; told: Pick<Fate, 'code' | 'text'> }>;
}

const UNKNOWN_LENGTH = 40;

const dropped = (code: string, reason: string): Pick<Fate, 'code' | 'text'> => ({
  code,
  text: `the user cannot sign in until a password is set: ${reason}`,
});

/** Keeps passwords whose hashes can be checked here. Others get a hash of a password that nobody knows. */
export function createImportedPasswords(deps: {
  passwords: Passwords;
  old: OldPasswords;
}): ImportedPasswords {
  // One for all: it belongs to nobody, and each costs what a login costs.
  let unknown: Promise<string> | undefined;
  const without = async (code: string, reason: string) => {
    unknown ??= deps.passwords.hash(randomText(UNKNOWN_LENGTH));
    return { hash: await unknown, told: dropped(code, reason) };
  };
  return {
    of: async ({ options }, { password_hash: hash, password_salt: salt }) => {
      if (options.passwords === 'reset')
        return await without('password_reset', 'the options reset passwords');
      if (!hash) return await without('password_missing', 'the archive has no password hash');
      if (isPasswordHash(hash)) return { hash, told: {} };
      if (!isOldPasswordHash(hash))
        return await without('password_unreadable', 'its hash is of an unknown kind');
      if (!salt)
        return await without(
          'password_salt_missing',
          'the archive has no salt of its hashes; give it as hash_salt',
        );
      return { hash: deps.old.stored(hash, new Secret(salt)), told: {} };
    },
  };
}
