/** Fields for the value of a secret. The typed text is hidden unless the user reveals it. */
import { useState } from 'react';
import { t } from '../../text/text';
import { Check } from '../../ui/field';
import type { ErrorOf } from '../../ui/form-dialog';
import { AreaField, SelectField, TextField } from '../../ui/inputs';
import type { ValueField, ValueForm } from './secret-value';

interface ValueFieldsProps {
  form: ValueForm;
  texts: Readonly<Record<string, string>>;
  onChange: (texts: Record<string, string>) => void;
  errorOf: ErrorOf;
}

export function ValueFields({ form, texts, onChange, errorOf }: ValueFieldsProps) {
  const [isShown, setShown] = useState(false);
  const set = (name: string) => (text: string) => onChange({ ...texts, [name]: text });
  if (form.kind === 'json')
    return (
      <AreaField
        label={t.secrets.value}
        hint={t.secrets.jsonHint}
        value={texts.value ?? ''}
        onChange={set('value')}
        error={errorOf('value')}
        isRequired
      />
    );
  if (form.kind === 'text') {
    const common = {
      label: t.secrets.value,
      value: texts.value ?? '',
      onChange: set('value'),
      error: errorOf('value'),
      isRequired: true,
    };
    return (
      <>
        {isShown ? <AreaField {...common} /> : <TextField {...common} type="password" />}
        <Check label={t.secrets.show} isChecked={isShown} onChange={setShown} />
      </>
    );
  }
  return (
    <>
      {form.fields.map((field) => (
        <OneField
          key={field.name}
          field={field}
          text={texts[field.name] ?? ''}
          isShown={isShown}
          error={errorOf(field.name)}
          onChange={set(field.name)}
        />
      ))}
      <Check label={t.secrets.show} isChecked={isShown} onChange={setShown} />
    </>
  );
}

const FLAGS = ['true', 'false'];

function OneField({
  field,
  text,
  isShown,
  error,
  onChange,
}: {
  field: ValueField;
  text: string;
  isShown: boolean;
  error: string | null;
  onChange: (text: string) => void;
}) {
  const { label, hint, isRequired, type } = field;
  const choices = type === 'boolean' ? FLAGS : field.choices;
  const common = { label, hint, isRequired, error, value: text, onChange };
  if (choices.length > 0)
    return <SelectField {...common} options={['', ...choices].map((one) => [one, one] as const)} />;
  return (
    <TextField
      {...common}
      type={type === 'string' && !isShown ? 'password' : 'text'}
      inputMode={type === 'string' ? undefined : 'decimal'}
    />
  );
}
