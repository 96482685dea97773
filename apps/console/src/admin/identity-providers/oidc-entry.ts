/** Settings of a provider of the type oidc: in the form, and in the format of the API. */
import { t } from '../../text/text';
import type { Pair } from '../../ui/pair-rows';
import { objectOf, pairsOf } from '../../ui/pairs';
import type { OidcProvider, ProviderChange } from './identity-providers';

export interface OidcEntry {
  name: string;
  issuer: string;
  clientId: string;
  /** Empty: the stored one stays. */
  clientSecret: string;
  /** Words, separated by spaces. */
  scopes: string;
  parameters: readonly Pair[];
  usernameClaim: string;
  groupsClaim: string;
  stripSuffix: string;
  provision: 'jit' | 'preexisting';
  caCertificate: string;
}

export const NEW_OIDC: OidcEntry = {
  name: '',
  issuer: '',
  clientId: '',
  clientSecret: '',
  scopes: 'openid profile offline_access',
  parameters: [],
  usernameClaim: 'preferred_username',
  groupsClaim: 'groups',
  stripSuffix: '',
  provision: 'jit',
  caCertificate: '',
};

export const entryOf = (provider: OidcProvider): OidcEntry => ({
  name: provider.name,
  issuer: provider.issuer,
  clientId: provider.client_id,
  clientSecret: '',
  scopes: provider.scopes.join(' '),
  parameters: pairsOf(provider.parameters),
  usernameClaim: provider.claims.username,
  groupsClaim: provider.claims.groups,
  stripSuffix: provider.claims.strip_suffix ?? '',
  provision: provider.provision,
  caCertificate: provider.ca_certificate ?? '',
});

const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/** Returns the errors, by the name of the field in the request body. */
export function faultsOf({ scopes, parameters }: OidcEntry): Record<string, string> {
  const texts = t.identityProviders.faults;
  const faults: Record<string, string> = {};
  if (!wordsOf(scopes).includes('openid')) faults.scopes = texts.scopes;
  for (const [at, [name, value]] of parameters.entries())
    if ((name.trim() === '') !== (value.trim() === '')) faults[`parameters[${at}]`] = texts.parameters;
  return faults;
}

/** Returns the entry in the format of the API, without the secret when nothing was typed. */
export function bodyOf(entry: OidcEntry): ProviderChange {
  const { name, issuer, clientId, clientSecret, usernameClaim, groupsClaim, stripSuffix } = entry;
  const certificate = entry.caCertificate.trim();
  return {
    ...(name.trim() && { name: name.trim() }),
    issuer: issuer.trim(),
    client_id: clientId.trim(),
    ...(clientSecret && { client_secret: clientSecret }),
    scopes: wordsOf(entry.scopes),
    parameters: objectOf(entry.parameters),
    claims: {
      ...(usernameClaim.trim() && { username: usernameClaim.trim() }),
      ...(groupsClaim.trim() && { groups: groupsClaim.trim() }),
      ...(stripSuffix.trim() && { strip_suffix: stripSuffix.trim() }),
    },
    provision: entry.provision,
    ca_certificate: certificate === '' ? null : certificate,
  };
}
