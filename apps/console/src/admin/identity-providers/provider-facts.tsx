/** What is shown of the settings of a provider. Secrets are only told to be there. */
import { t } from '../../text/text';
import type { Facts } from '../../ui/facts';
import { Time } from '../../ui/time';
import type { IdentityProvider, LdapProvider, OidcProvider } from './identity-providers';

type FactList = Parameters<typeof Facts>[0]['facts'];

export function factsOf(provider: IdentityProvider): FactList {
  const texts = t.identityProviders;
  return [
    [texts.name, provider.name],
    [texts.type, texts.types[provider.type]],
    ...(provider.type === 'ldap' ? ldapFacts(provider) : oidcFacts(provider)),
    [texts.provision, texts.provisions[provider.provision]],
    [texts.certificate, provider.ca_certificate && texts.stored],
    [texts.users, t.number(provider.users)],
    [t.resource.created, <Time key="created" at={provider.created_at} />],
  ];
}

function oidcFacts(provider: OidcProvider): FactList {
  const texts = t.identityProviders;
  const parameters = Object.entries(provider.parameters).map(([name, value]) => `${name}=${value}`);
  return [
    [texts.issuer, provider.issuer],
    [texts.clientId, provider.client_id],
    [texts.clientSecret, provider.has_client_secret ? texts.stored : texts.noSecret],
    [texts.scopes, provider.scopes.join(' ')],
    [texts.parameters, parameters.join(', ')],
    [texts.form.usernameClaim, provider.claims.username],
    [texts.form.groupsClaim, provider.claims.groups],
    [texts.form.suffix, provider.claims.strip_suffix],
  ];
}

function ldapFacts(provider: LdapProvider): FactList {
  const texts = t.identityProviders.ldap;
  return [
    [texts.urls, provider.urls.join(', ')],
    [texts.bindDn, provider.bind_dn],
    [
      texts.bindPassword,
      provider.has_bind_password ? t.identityProviders.stored : t.identityProviders.noSecret,
    ],
    [texts.userBase, provider.user_base],
    [texts.userFilter, provider.user_filter],
    [texts.username, provider.username_attribute],
    [texts.subject, provider.subject_attribute],
    [texts.groupBase, provider.group_base ?? texts.noGroups],
    [texts.groupFilter, provider.group_base && provider.group_filter],
    [texts.groupName, provider.group_base && provider.group_name_attribute],
    [texts.nested, provider.group_base && (provider.nested_groups ? texts.yes : texts.no)],
  ];
}
