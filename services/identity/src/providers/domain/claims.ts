import { isName } from '../../domain/checks';
import { LoginFailure } from './login-failure';
import type { OidcProvider } from './provider';

/** Who signed in, as the provider says it. */
export interface ProviderIdentity {
  subject: string;
  /** Null: the provider names no usable user name; enough for a user that exists already. */
  username: string | null;
  groups: string[];
}

export type Claims = Readonly<Record<string, unknown>>;

/** Most groups of one user that are read. */
export const MAX_GROUPS = 5_000;
const MAX_GROUP_LENGTH = 1_024;
export const MAX_SUBJECT = 255;

/** Returns the value of a claim: `groups`, or `realm_access.roles` inside an object. Only own members count. */
export function claimOf(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

/**
 * Reads the user from claims that are verified already.
 * @throws LoginFailure when the subject is missing or the groups cannot be read: without them a role could stay by mistake
 */
export function identityOf(
  provider: Pick<OidcProvider, 'usernameClaim' | 'groupsClaim' | 'stripSuffix'>,
  claims: Claims,
): ProviderIdentity {
  const { sub } = claims;
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT)
    throw new LoginFailure('bad_answer', 'the provider names no subject of 1 to 255 characters');
  return {
    subject: sub,
    username: usernameOf(claimOf(claims, provider.usernameClaim), provider.stripSuffix),
    groups: groupsOf(claimOf(claims, provider.groupsClaim), provider.groupsClaim),
  };
}

function usernameOf(value: unknown, suffix: string | null): string | null {
  if (typeof value !== 'string') return null;
  const name = suffix !== null && value.endsWith(suffix) ? value.slice(0, -suffix.length) : value;
  return isName(name) ? name : null;
}

/** No such claim: no groups. One text is one group. */
function groupsOf(value: unknown, claim: string): string[] {
  if (value === undefined || value === null) return [];
  const groups: unknown[] = Array.isArray(value) ? value : [value];
  const isGood = (group: unknown): group is string =>
    typeof group === 'string' && group.length <= MAX_GROUP_LENGTH;
  if (groups.length > MAX_GROUPS || !groups.every(isGood))
    throw new LoginFailure('bad_answer', `claim ${claim} is not a list of at most ${MAX_GROUPS} names`);
  return [...new Set(groups)];
}
