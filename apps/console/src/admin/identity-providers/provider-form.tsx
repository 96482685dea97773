/** The form that fits the type of a provider. A further type is one more form here. */
import type { ReactNode } from 'react';
import type { IdentityProvider } from './identity-providers';
import { bodyOf, entryOf, faultsOf, NEW_OIDC, type OidcEntry } from './oidc-entry';
import { OidcFields } from './oidc-fields';
import { type ProviderParts, SettingsForm } from './settings-form';

interface ProviderFormProps {
  /** Null: a new one. */
  provider: IdentityProvider | null;
  onClose: () => void;
}

const OIDC: ProviderParts<OidcEntry> = {
  type: 'oidc',
  newEntry: NEW_OIDC,
  entryOf,
  faultsOf,
  bodyOf,
  isComplete: ({ issuer, clientId }) => issuer.trim() !== '' && clientId.trim() !== '',
  fields: (props) => <OidcFields {...props} />,
};

const FORMS: Readonly<Record<IdentityProvider['type'], (props: ProviderFormProps) => ReactNode>> = {
  oidc: (props) => <SettingsForm parts={OIDC} {...props} />,
};

export default function ProviderForm(props: ProviderFormProps) {
  return FORMS[props.provider?.type ?? 'oidc'](props);
}
