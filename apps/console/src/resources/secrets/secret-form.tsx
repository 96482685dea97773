/** Creates a secret: a text, a value with a JSON schema, or a reference to a value that a provider keeps. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useTenant } from '../../api/api-context';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { Check } from '../../ui/field';
import { FormDialog } from '../../ui/form-dialog';
import { AreaField, SelectField, TextField } from '../../ui/inputs';
import { type Visibility, VisibilityField } from '../../ui/visibility';
import { providerNamesQuery } from './providers';
import { readSchema, readValue, valueFormOf } from './secret-value';
import { createSecret, type NewSecret, SECRETS } from './secrets';
import { ValueFields } from './value-fields';

type Kind = 'text' | 'schema' | 'provider';

export function SecretForm({ onClose }: { onClose: () => void }) {
  const { client } = useApi();
  const { data: providers = [] } = useQuery(providerNamesQuery(client, useTenant()));
  const [key, setKey] = useState('');
  const [kind, setKind] = useState<Kind>('text');
  const [schemaText, setSchemaText] = useState('');
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [provider, setProvider] = useState('');
  const [path, setPath] = useState('');
  const [visibility, setVisibility] = useState<Visibility>('tenant');
  const [isHidden, setHidden] = useState(false);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const create = useChange([SECRETS], createSecret, onClose);
  // Until the schema can be parsed, the value is entered as JSON.
  const schema = kind === 'schema' ? (readSchema(schemaText).schema ?? {}) : null;
  const form = valueFormOf(schema);
  const submit = (): void => {
    const secret: NewSecret = { key, value: '', visibility, is_hidden_value: isHidden };
    if (kind === 'provider') {
      setErrors({});
      create.mutate({
        ...secret,
        provider_name: provider || providers[0]?.name || '',
        ...(path && { provider_options: { path } }),
      });
      return;
    }
    const read = readValue(form, texts);
    const found = kind === 'schema' ? { ...readSchema(schemaText).errors, ...read.errors } : read.errors;
    setErrors(found);
    if (Object.keys(found).length > 0) return;
    create.mutate({ ...secret, value: read.value, ...(schema && { schema }) });
  };
  const kinds = Object.entries(t.secrets.kinds) as [Kind, string][];
  return (
    <FormDialog
      title={t.secrets.create}
      submit={t.secrets.submit}
      mutation={create}
      onSubmit={submit}
      onClose={onClose}
      errors={errors}
      isIncomplete={key === ''}
    >
      {(errorOf) => (
        <>
          <TextField
            label={t.secrets.key}
            value={key}
            onChange={setKey}
            error={errorOf('secret_key')}
            isRequired
          />
          <SelectField
            label={t.secrets.kind}
            value={kind}
            options={kinds.filter(([one]) => one !== 'provider' || providers.length > 0)}
            onChange={setKind}
          />
          {kind === 'schema' && (
            <AreaField
              label={t.secrets.schema}
              hint={t.secrets.schemaHint}
              value={schemaText}
              onChange={setSchemaText}
              error={errorOf('schema')}
              isRequired
            />
          )}
          {kind === 'provider' ? (
            <>
              <SelectField
                label={t.secrets.provider}
                value={provider || (providers[0]?.name ?? '')}
                options={providers.map(({ name }) => [name, name] as const)}
                onChange={setProvider}
                error={errorOf('provider_name')}
              />
              <TextField
                label={t.secrets.path}
                hint={t.secrets.pathHint}
                value={path}
                onChange={setPath}
                error={errorOf('provider_options.path')}
              />
            </>
          ) : (
            <ValueFields form={form} texts={texts} onChange={setTexts} errorOf={errorOf} />
          )}
          <VisibilityField value={visibility} onChange={setVisibility} error={errorOf('visibility')} />
          <Check label={t.secrets.hide} isChecked={isHidden} onChange={setHidden} />
        </>
      )}
    </FormDialog>
  );
}
