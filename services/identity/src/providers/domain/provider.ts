import { X509Certificate } from 'node:crypto';
import type { MappingRule } from '@baton/contracts/http/identity-providers';
import { badParameter, defineFormat, nearestName, requireFormat } from '@baton/kernel';
import { type Role, requireRole } from '../../domain/roles';

/** An identity provider as it is stored; the secret stays sealed until it is used. */
export interface Provider {
  id: string;
  name: string;
  issuer: string;
  clientId: string;
  secretSealed: Uint8Array | null;
  scopes: readonly string[];
  /** More parameters of the authorization request. */
  parameters: Readonly<Record<string, string>>;
  usernameClaim: string;
  groupsClaim: string;
  stripSuffix: string | null;
  mapping: readonly MappingRule[];
  provision: 'jit' | 'preexisting';
  caCertificate: string | null;
  isEnabled: boolean;
}

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

/** Parameters that the protocol itself decides (RFC 6749, RFC 7636, OpenID Connect Core 1.0). */
const RESERVED = new Set(
  'client_id client_secret redirect_uri response_type response_mode scope state nonce code_challenge code_challenge_method request request_uri'.split(
    ' ',
  ),
);

/** @throws AppError bad_parameters_error for a parameter that a sign-in sets itself */
export function checkParameters(parameters: Readonly<Record<string, string>>): void {
  const reserved = Object.keys(parameters).find((name) => RESERVED.has(name));
  if (reserved !== undefined)
    throw badParameter(`parameters.${reserved}`, `Parameter \`${reserved}\` is set by the sign-in itself`, {
      expected: 'parameters of the provider, such as prompt or access_type',
    });
}

/**
 * Checks an issuer: https, and nothing but host, port and path (OpenID Connect Discovery 1.0, section 3). Which addresses the host may
 * have is decided at each connection (adapters/provider-fetch.ts).
 * @throws AppError bad_parameters_error
 */
export function requireIssuer(issuer: string, field = 'issuer'): string {
  const expected = 'https://host, with a port and a path where the provider has them';
  const refused = (why: string) =>
    badParameter(field, `Invalid issuer \`${issuer.slice(0, 200)}\`: ${why}`, { expected });
  let url: URL;
  try {
    url = new URL(issuer);
  } catch {
    throw refused('it is no address');
  }
  if (url.protocol !== 'https:') throw refused('it does not begin with https://');
  if (url.username !== '' || url.password !== '') throw refused('it holds a user or password');
  if (issuer.includes('?') || issuer.includes('#')) throw refused('it has a query or a fragment');
  return issuer;
}

/** Checks a PEM certificate. @throws AppError bad_parameters_error */
export function requireCertificate(pem: string, field: string): string {
  try {
    return new X509Certificate(pem) && pem;
  } catch {
    throw badParameter(field, 'The text is no certificate', { expected: 'PEM: -----BEGIN CERTIFICATE-----' });
  }
}
