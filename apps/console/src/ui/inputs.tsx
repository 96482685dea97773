/** Fields of forms with their controls: a text line, a text area, a select. */
import type { HTMLInputTypeAttribute, ReactNode } from 'react';
import { type Choices, controlClass, Field, type FieldIds, Options } from './field';

interface InputProps<Value extends string = string> {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  hint?: ReactNode;
  error?: string | null;
  isRequired?: boolean;
  isDisabled?: boolean;
}

/** What every control has of its field. */
interface Control<Value extends string> extends FieldIds {
  className: string;
  disabled: boolean | undefined;
  value: Value;
  onChange: (event: { currentTarget: { value: string } }) => void;
}

function InputField<Value extends string>(
  props: InputProps<Value> & { children: (control: Control<Value>) => ReactNode },
) {
  const { label, hint, error, isRequired, isDisabled, value, onChange } = props;
  return (
    <Field label={label} hint={hint} error={error} isRequired={isRequired}>
      {(ids) =>
        props.children({
          ...ids,
          className: controlClass,
          disabled: isDisabled,
          value,
          onChange: (event) => onChange(event.currentTarget.value as Value),
        })
      }
    </Field>
  );
}

interface TextFieldProps extends InputProps {
  type?: HTMLInputTypeAttribute;
  inputMode?: 'decimal' | 'numeric';
  /** Autocomplete attribute; by default browsers fill in nothing. */
  autoComplete?: string;
  placeholder?: string;
}

export function TextField({
  type = 'text',
  inputMode,
  autoComplete = 'off',
  placeholder,
  ...field
}: TextFieldProps) {
  const own = { type, inputMode, autoComplete, placeholder };
  return (
    <InputField {...field}>
      {(control) => <input {...control} {...own} aria-required={field.isRequired} spellCheck={false} />}
    </InputField>
  );
}

export function AreaField({ rows, ...field }: InputProps & { rows?: number }) {
  return (
    <InputField {...field}>
      {(control) => (
        <textarea
          {...control}
          rows={rows}
          autoComplete="off"
          aria-required={field.isRequired}
          spellCheck={false}
        />
      )}
    </InputField>
  );
}

export function SelectField<Value extends string>({
  options,
  ...field
}: InputProps<Value> & { options: Choices<Value> }) {
  return (
    <InputField {...field}>
      {(control) => (
        <select {...control}>
          <Options of={options} />
        </select>
      )}
    </InputField>
  );
}
