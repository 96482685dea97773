/** What an entry of a directory says about a user. */
import { MAX_SUBJECT } from './claims';

/** An entry as it was read: attributes by name, values as text where they are text. */
export interface LdapEntry {
  dn: string;
  values: Readonly<Record<string, readonly (string | Buffer)[]>>;
}

/** Attributes by which directories mark accounts that an administrator has disabled. */
export const DISABLED_MARKS = ['userAccountControl', 'nsAccountLock', 'pwdAccountLockedTime'] as const;

const ACCOUNT_DISABLE = 2;
/** ppolicy: locked by an administrator. Any other time is a lock after failed binds, which strangers can cause. */
const LOCKED_FOR_EVER = '000001010000Z';

/** Returns the values of an attribute, whose name is the same in any letter case. */
function valuesOf({ values }: LdapEntry, attribute: string): readonly (string | Buffer)[] {
  const wanted = attribute.toLowerCase();
  return Object.entries(values).find(([name]) => name.toLowerCase() === wanted)?.[1] ?? [];
}

/** Returns the values of an attribute that are text. */
export const textsOf = (entry: LdapEntry, attribute: string): string[] =>
  valuesOf(entry, attribute).flatMap((value) => (typeof value === 'string' ? value : []));

/** Whether an administrator of the directory has disabled the account: Active Directory, 389 DS and FreeIPA, OpenLDAP with ppolicy. */
export function isDisabled(entry: LdapEntry): boolean {
  const [control, lock, lockedTime] = DISABLED_MARKS.map((name) => textsOf(entry, name)[0] ?? '');
  return (
    (Number(control) & ACCOUNT_DISABLE) !== 0 ||
    lock!.toLowerCase() === 'true' ||
    lockedTime === LOCKED_FOR_EVER
  );
}

/** Whether values of the attribute are 16 bytes, which Microsoft writes as a GUID. */
export const isGuid = (attribute: string): boolean => attribute.toLowerCase() === 'objectguid';

const GUID = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/i;
const reversed = (hex: string): string => Buffer.from(hex, 'hex').reverse().toString('hex');

/** Returns 16 bytes as Microsoft writes them: the first three groups with their lowest byte first. */
export function guidText(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  const groups = [reversed(hex.slice(0, 8)), reversed(hex.slice(8, 12)), reversed(hex.slice(12, 16))];
  return [...groups, hex.slice(16, 20), hex.slice(20)].join('-');
}

/** The bytes of a GUID; null for another text. */
export function guidBytes(text: string): Buffer | null {
  const [, first, second, third, fourth, rest] = GUID.exec(text) ?? [];
  if (first === undefined) return null;
  return Buffer.from(reversed(first) + reversed(second!) + reversed(third!) + fourth! + rest!, 'hex');
}

/** Returns the identity of the entry that never changes; null: it has none that can be read, or several. */
export function subjectOf(entry: LdapEntry, attribute: string): string | null {
  const values = valuesOf(entry, attribute);
  const [value] = values;
  if (value === undefined || values.length > 1) return null;
  if (isGuid(attribute)) return typeof value !== 'string' && value.length === 16 ? guidText(value) : null;
  return typeof value === 'string' && value !== '' && value.length <= MAX_SUBJECT ? value : null;
}
