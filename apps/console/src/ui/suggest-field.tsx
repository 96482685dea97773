import { type ReactNode, useId } from 'react';
import { controlClass, Field } from './field';

/** Input for an existing name, with matching suggestions during typing. */
export function SuggestField({
  label,
  hint,
  error,
  value,
  options,
  onChange,
}: {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  value: string;
  /** Names, each with an optional explanation. */
  options: readonly (readonly [name: string, text?: string])[];
  onChange: (value: string) => void;
}) {
  const list = useId();
  return (
    <Field label={label} hint={hint} error={error} isRequired>
      {(ids) => (
        <>
          <input
            {...ids}
            className={controlClass}
            list={list}
            autoComplete="off"
            spellCheck={false}
            value={value}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
          <datalist id={list}>
            {options.map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
