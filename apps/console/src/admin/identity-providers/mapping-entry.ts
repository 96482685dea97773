/** Rules of a mapping, group -> roles: in the form, and in the format of the API. */
import { t } from '../../text/text';
import type { Pair } from '../../ui/pair-rows';
import { tenantRolesOf } from '../tenant-roles';
import type { MappingRule } from './identity-providers';

export interface RuleEntry {
  group: string;
  /** Role in the manager; empty: none. */
  role: string;
  tenants: readonly Pair[];
}

export const NEW_RULE: RuleEntry = { group: '', role: '', tenants: [] };

export const entriesOf = (mapping: readonly MappingRule[]): RuleEntry[] =>
  mapping.map(({ group, role, tenants = [] }) => ({
    group,
    role: role ?? '',
    tenants: tenants.map(({ name, role: inTenant }) => [name, inTenant] as const),
  }));

export const rulesOf = (entries: readonly RuleEntry[]): MappingRule[] =>
  entries.map(({ group, role, tenants: rows }) => {
    const tenants = tenantRolesOf(rows);
    // Not trimmed: names of groups are compared exactly.
    return { group, ...(role && { role }), ...(tenants.length > 0 && { tenants }) };
  });

/** Returns the errors, by the place in the request body. */
export function faultsOf(entries: readonly RuleEntry[]): Record<string, string> {
  const texts = t.identityProviders.faults;
  const faults: Record<string, string> = {};
  for (const [at, { group, role, tenants }] of entries.entries()) {
    if (group.trim() === '') faults[`mapping[${at}].group`] = texts.group;
    else if (role === '' && tenantRolesOf(tenants).length === 0) faults[`mapping[${at}]`] = texts.nothing;
  }
  return faults;
}
