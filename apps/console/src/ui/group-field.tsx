import type { ReactNode } from 'react';
import styles from './group-field.module.css';

/** Several controls that belong together, with a name, a hint and an error of all. */
export function GroupField({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  children: ReactNode;
}) {
  return (
    <fieldset className={styles.group}>
      <legend>{label}</legend>
      {hint && <p className={styles.hint}>{hint}</p>}
      {children}
      {error && (
        // The form moves the focus here: the controls of the group may be right each by itself.
        <p className={styles.error} role="alert" tabIndex={-1} data-fault="">
          {error}
        </p>
      )}
    </fieldset>
  );
}
