/** The form that fits the type of a provider. A further type is one more form here. */
import { useState } from 'react';
import { t } from '../../text/text';
import { SelectField } from '../../ui/inputs';
import type { IdentityProvider, LdapProvider, OidcProvider } from './identity-providers';
import * as ldap from './ldap-entry';
import { LdapFields } from './ldap-fields';
import * as oidc from './oidc-entry';
import { OidcFields } from './oidc-fields';
import { type ProviderParts, SettingsForm } from './settings-form';

const OIDC: ProviderParts<OidcProvider, oidc.OidcEntry> = {
  type: 'oidc',
  newEntry: oidc.NEW_OIDC,
  entryOf: oidc.entryOf,
  hasSecret: ({ has_client_secret: hasSecret }) => hasSecret,
  faultsOf: oidc.faultsOf,
  bodyOf: oidc.bodyOf,
  isComplete: ({ issuer, clientId }) => issuer.trim() !== '' && clientId.trim() !== '',
  fields: (props) => <OidcFields {...props} />,
};

const LDAP: ProviderParts<LdapProvider, ldap.LdapEntry> = {
  type: 'ldap',
  newEntry: ldap.NEW_LDAP,
  entryOf: ldap.entryOf,
  hasSecret: ({ has_bind_password: hasSecret }) => hasSecret,
  faultsOf: ldap.faultsOf,
  bodyOf: ldap.bodyOf,
  isComplete: ({ urls, bindDn, userBase }) => [urls, bindDn, userBase].every((text) => text.trim() !== ''),
  fields: (props) => <LdapFields {...props} />,
};

/** `provider`: null for a new one. */
export default function ProviderForm({
  provider,
  onClose,
}: {
  provider: IdentityProvider | null;
  onClose: () => void;
}) {
  const [chosen, setChosen] = useState<IdentityProvider['type']>('oidc');
  const type = provider?.type ?? chosen;
  const choice = !provider && (
    <SelectField
      label={t.identityProviders.type}
      value={chosen}
      options={[
        ['oidc', t.identityProviders.types.oidc],
        ['ldap', t.identityProviders.types.ldap],
      ]}
      onChange={setChosen}
    />
  );
  // By its key each type has a form of its own: another type must not get the entry of the one before.
  return type === 'ldap' ? (
    <SettingsForm
      key="ldap"
      parts={LDAP}
      provider={provider as LdapProvider | null}
      choice={choice}
      onClose={onClose}
    />
  ) : (
    <SettingsForm
      key="oidc"
      parts={OIDC}
      provider={provider as OidcProvider | null}
      choice={choice}
      onClose={onClose}
    />
  );
}
