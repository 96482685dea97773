import { type FindUser, type Ownership, ownershipOf, type Principal } from '@baton/contracts';
import { AppError } from '@baton/kernel';

const FIELDS = { at: 'created_at', by: 'creator' };

/**
 * Returns the creator and creation time of a secret from an export with metadata; or its faults, under the names that clients
 * know (reference/rest-api.md 8.1): `timestamp`, `creator` (not permitted), `creator_valid` (no such user).
 */
export async function importedOwnership(
  principal: Principal,
  item: Record<string, unknown>,
  findUser: FindUser,
): Promise<{ owner: Ownership } | { faults: Record<string, string> }> {
  try {
    return { owner: await ownershipOf(principal, item, findUser, FIELDS) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, details } = error;
    if (code !== 'bad_parameters_error' && code !== 'forbidden_error') throw error;
    const ofUser = code === 'forbidden_error' ? 'creator' : 'creator_valid';
    const name = details.field === FIELDS.at ? 'timestamp' : ofUser;
    return { faults: { [name]: error.message } };
  }
}
