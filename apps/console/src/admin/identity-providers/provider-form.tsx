/** The form that fits the type of a provider. A further type is one more form here. */
import type { IdentityProvider, OidcProvider } from './identity-providers';
import { bodyOf, entryOf, faultsOf, NEW_OIDC, type OidcEntry } from './oidc-entry';
import { OidcFields } from './oidc-fields';
import { type ProviderParts, SettingsForm } from './settings-form';

const OIDC: ProviderParts<OidcProvider, OidcEntry> = {
  type: 'oidc',
  newEntry: NEW_OIDC,
  entryOf,
  hasSecret: ({ has_client_secret: hasSecret }) => hasSecret,
  faultsOf,
  bodyOf,
  isComplete: ({ issuer, clientId }) => issuer.trim() !== '' && clientId.trim() !== '',
  fields: (props) => <OidcFields {...props} />,
};

/** `provider`: null for a new one. */
export default function ProviderForm({
  provider,
  onClose,
}: {
  provider: IdentityProvider | null;
  onClose: () => void;
}) {
  return <SettingsForm parts={OIDC} provider={provider} onClose={onClose} />;
}
