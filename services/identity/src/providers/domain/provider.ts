import { X509Certificate } from 'node:crypto';
import type { MappingRule } from '@baton/contracts/http/identity-providers';
import { badParameter, defineFormat, nearestName, requireFormat } from '@baton/kernel';
import { type Role, requireRole } from '../../domain/roles';

/** What every identity provider has; the secret stays sealed until it is used. */
interface CommonSettings {
  id: string;
  name: string;
  /** Client secret, or password of the account that searches a directory. */
  secretSealed: Uint8Array | null;
  mapping: readonly MappingRule[];
  provision: 'jit' | 'preexisting';
  caCertificate: string | null;
  isEnabled: boolean;
}

export interface OidcSettings {
  issuer: string;
  clientId: string;
  scopes: readonly string[];
  /** More parameters of the authorization request. */
  parameters: Readonly<Record<string, string>>;
  usernameClaim: string;
  groupsClaim: string;
  stripSuffix: string | null;
}

export interface LdapSettings {
  /** Asked in this order; the next one when one is away. */
  urls: readonly string[];
  bindDn: string;
  userBase: string;
  userFilter: string;
  usernameAttribute: string;
  subjectAttribute: string;
  /** Null: no groups are read. */
  groupBase: string | null;
  groupFilter: string;
  /** Attribute whose value the mapping names; `dn`: the whole name of the entry. */
  groupNameAttribute: string;
  hasNestedGroups: boolean;
}

export type OidcProvider = CommonSettings & OidcSettings & { type: 'oidc' };
export type LdapProvider = CommonSettings & LdapSettings & { type: 'ldap' };
/** An identity provider as it is stored. */
export type Provider = OidcProvider | LdapProvider;

/** Roles that a mapping gives: kept apart from those that an administrator gives by hand. */
export interface Grants {
  systemRoles: string[];
  tenantRoles: { tenant: string; role: string }[];
}

export const noGrants: Readonly<Grants> = { systemRoles: [], tenantRoles: [] };

/** Returns what a user with these groups gets. Names of groups are compared exactly. */
export function grantsOf(mapping: readonly MappingRule[], groups: readonly string[]): Grants {
  const held = new Set(groups);
  const rules = mapping.filter((rule) => held.has(rule.group));
  const systemRoles = new Set(rules.flatMap((rule) => rule.role ?? []));
  const tenants = new Map(
    rules.flatMap((rule) =>
      (rule.tenants ?? []).map(({ name, role }) => [`${name} ${role}`, { tenant: name, role }]),
    ),
  );
  return { systemRoles: [...systemRoles], tenantRoles: [...tenants.values()] };
}

/**
 * Checks that every role and tenant of the rules exists.
 * @throws AppError bad_parameters_error with the path of the field and the nearest name
 */
export function checkMapping(
  mapping: readonly MappingRule[],
  known: { roles: readonly Role[]; tenants: readonly string[] },
): void {
  for (const [at, rule] of mapping.entries()) {
    if (rule.role !== undefined) requireRole(known.roles, rule.role, 'system_role');
    if (rule.role === undefined && (rule.tenants ?? []).length === 0)
      throw badParameter(`mapping.${at}`, `The rule of group \`${rule.group}\` gives nothing`, {
        expected: 'role, tenants, or both',
      });
    for (const [place, { name, role }] of (rule.tenants ?? []).entries()) {
      requireRole(known.roles, role, 'tenant_role');
      if (!known.tenants.includes(name))
        throw badParameter(`mapping.${at}.tenants.${place}.name`, `There is no tenant \`${name}\``, {
          expected: 'the name of a tenant',
          nearest: nearestName(name, known.tenants),
        });
    }
  }
}

const mappingFormat = defineFormat('mapping of an identity provider', 1, [1]);

export interface StoredMapping {
  format: number;
  rules: MappingRule[];
}

export const storedMapping = (rules: readonly MappingRule[]): StoredMapping => ({
  format: mappingFormat.written,
  rules: [...rules],
});

/** Reads the rules of a row. @throws AppError internal_server_error for the format of a later release */
export function mappingOf(stored: unknown, id: string): MappingRule[] {
  const { format, rules } = stored as StoredMapping;
  requireFormat(mappingFormat, format, `identity provider ${id}`);
  return rules;
}

/** Checks a PEM certificate. @throws AppError bad_parameters_error */
export function requireCertificate(pem: string, field: string): string {
  try {
    return new X509Certificate(pem) && pem;
  } catch {
    throw badParameter(field, 'The text is no certificate', { expected: 'PEM: -----BEGIN CERTIFICATE-----' });
  }
}
