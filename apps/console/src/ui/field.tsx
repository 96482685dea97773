import { type ReactNode, useId } from 'react';
import styles from './field.module.css';

/** What ties a control to its label, its explanation and its fault. */
export interface FieldIds {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  isRequired?: boolean;
  children: (ids: FieldIds) => ReactNode;
}

/** A control with its label, its hint, and its error. */
export function Field({ label, hint, error, isRequired = false, children }: FieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return (
    <div className={styles.field}>
      <label htmlFor={id}>
        {label}
        {isRequired && <span aria-hidden="true"> *</span>}
      </label>
      {children({ id, 'aria-describedby': described, 'aria-invalid': error ? true : undefined })}
      {hint && (
        <p id={`${id}-hint`} className={styles.hint}>
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className={styles.error}>
          {error}
        </p>
      )}
    </div>
  );
}

export function Check({
  label,
  isChecked,
  onChange,
}: {
  label: ReactNode;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
}) {
  return (
    <label className={styles.check}>
      <input
        type="checkbox"
        checked={isChecked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}

export const controlClass = styles.control!;

export type Choices<Value extends string = string> = readonly (readonly [value: Value, text: string])[];

/** The choices of a select. */
export const Options = ({ of }: { of: Choices }) =>
  of.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ));

interface SelectProps {
  label: string;
  value: string;
  options: Choices;
  onChange: (value: string) => void;
}

/** A select in a toolbar: its label is visible only to screen readers. */
export function BarSelect({ label, value, options, onChange }: SelectProps) {
  return (
    <select
      className={styles.control}
      aria-label={label}
      title={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      <Options of={options} />
    </select>
  );
}
