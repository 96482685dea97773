/** The form of a provider of any type: makes one (`provider` is null) and opens its screen, or changes the settings of one. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useApi, useTenant } from '../../api/api-context';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { type ErrorOf, FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/inputs';
import { useChecked } from '../../ui/use-checked';
import {
  changeProvider,
  createProvider,
  type IdentityProvider,
  identityProvidersQuery,
  type NewProvider,
  PROVIDERS,
  type ProviderChange,
} from './identity-providers';

/** What the form of one type of providers is made of. */
export interface ProviderParts<Provider extends IdentityProvider, Entry> {
  type: Provider['type'];
  newEntry: Entry;
  entryOf: (provider: Provider) => Entry;
  hasSecret: (provider: Provider) => boolean;
  /** Errors by the name of the field in the request body. */
  faultsOf: (entry: Entry) => Record<string, string>;
  bodyOf: (entry: Entry) => ProviderChange;
  isComplete: (entry: Entry) => boolean;
  fields: (props: {
    entry: Entry;
    onChange: (entry: Entry) => void;
    errorOf: ErrorOf;
    hasSecret: boolean;
  }) => ReactNode;
}

export interface SettingsFormProps<Provider extends IdentityProvider, Entry> {
  parts: ProviderParts<Provider, Entry>;
  /** Null: a new one. */
  provider: Provider | null;
  /** Of a new one: the choice of its type. */
  choice: ReactNode;
  onClose: () => void;
}

export function SettingsForm<Provider extends IdentityProvider, Entry>({
  parts,
  provider,
  choice,
  onClose,
}: SettingsFormProps<Provider, Entry>) {
  const { client } = useApi();
  const tenant = useTenant();
  const navigate = useNavigate();
  const [id, setId] = useState('');
  const [entry, setEntry] = useState<Entry>(() => (provider ? parts.entryOf(provider) : parts.newEntry));
  const { data: all = [] } = useQuery(identityProvidersQuery(client, tenant));
  const save = useChange(
    [PROVIDERS],
    (client, ofTenant): Promise<IdentityProvider> =>
      provider
        ? changeProvider(client, ofTenant, provider.id, parts.bodyOf(entry))
        : createProvider(client, ofTenant, id.trim(), {
            type: parts.type,
            ...parts.bodyOf(entry),
          } as NewProvider),
    (made) => {
      onClose();
      if (!provider)
        void navigate({ to: '/$tenant/admin/identity-providers/$id', params: { tenant, id: made.id } });
    },
  );
  // The API would replace the settings of the provider that has the id.
  const isTaken = !provider && all.some((one) => one.id === id.trim());
  const checked = useChecked(
    () => ({ ...(isTaken && { provider_id: t.identityProviders.faults.taken }), ...parts.faultsOf(entry) }),
    () => save.mutate(),
  );
  return (
    <FormDialog
      title={provider ? t.identityProviders.form.editOf(provider.id) : t.identityProviders.create}
      submit={provider ? t.resource.save : t.identityProviders.submit}
      mutation={save}
      onClose={onClose}
      {...checked}
      isIncomplete={!parts.isComplete(entry) || (!provider && id.trim() === '')}
    >
      {(errorOf) => (
        <>
          {choice}
          {!provider && (
            <TextField
              label={t.identityProviders.id}
              hint={t.identityProviders.form.idHint}
              value={id}
              onChange={setId}
              error={errorOf('provider_id')}
              isRequired
            />
          )}
          {parts.fields({
            entry,
            onChange: setEntry,
            errorOf,
            hasSecret: provider !== null && parts.hasSecret(provider),
          })}
        </>
      )}
    </FormDialog>
  );
}
