import { useState } from 'react';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { FormDialog } from '../../ui/form-dialog';
import { SelectField, TextField } from '../../ui/inputs';
import { type Visibility, VisibilityField } from '../../ui/visibility';
import {
  CONNECTION_FIELDS,
  COVERED,
  changeProvider,
  connectionOf,
  createProvider,
  PROVIDERS,
  type ProviderRow,
  type ProviderType,
} from './providers';

/** Creates a provider (`provider` is null), or changes the connection of one. The manager tests the connection before it saves. */
export function ProviderForm({ provider, onClose }: { provider: ProviderRow | null; onClose: () => void }) {
  const [name, setName] = useState('');
  const [type, setType] = useState<ProviderType>(provider?.type ?? 'vault');
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [visibility, setVisibility] = useState<Visibility>(provider?.visibility ?? 'tenant');
  const save = useChange(
    [PROVIDERS],
    (client, tenant) => {
      const connection = connectionOf(type, texts);
      const isAnew = !provider || Object.keys(connection).length > 0 || type !== provider.type;
      const body = { visibility, ...(isAnew && { type, connection_parameters: connection }) };
      return provider
        ? changeProvider(client, tenant, provider.name, body)
        : createProvider(client, tenant, { ...body, name });
    },
    onClose,
  );
  const types = Object.entries(t.providers.types) as [ProviderType, string][];
  return (
    <FormDialog
      title={provider ? t.providers.editOf(provider.name) : t.providers.create}
      submit={provider ? t.resource.save : t.providers.submit}
      mutation={save}
      onSubmit={() => save.mutate()}
      onClose={onClose}
      isIncomplete={!provider && name === ''}
    >
      {(errorOf) => (
        <>
          {!provider && (
            <TextField
              label={t.providers.name}
              value={name}
              onChange={setName}
              error={errorOf('name')}
              isRequired
            />
          )}
          <SelectField label={t.providers.type} value={type} options={types} onChange={setType} />
          {provider && <p>{t.providers.anew}</p>}
          {CONNECTION_FIELDS[type].map((field) => (
            <TextField
              key={`${type} ${field}`}
              label={t.providers.fields[field] ?? field}
              type={COVERED.has(field) ? 'password' : 'text'}
              value={texts[field] ?? ''}
              onChange={(text) => setTexts((before) => ({ ...before, [field]: text }))}
              error={errorOf(`connection_parameters.${field}`)}
            />
          ))}
          <VisibilityField
            value={visibility}
            atLeast={provider?.visibility}
            onChange={setVisibility}
            error={errorOf('visibility')}
          />
        </>
      )}
    </FormDialog>
  );
}
