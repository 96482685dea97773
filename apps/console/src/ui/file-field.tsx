import type { ReactNode } from 'react';
import { controlClass, Field } from './field';

interface FileFieldProps {
  label: string;
  accept?: string;
  hint?: ReactNode;
  error?: string | null;
  /** Several may be chosen at once. */
  isMultiple?: boolean;
  onChange: (files: File[]) => void;
}

/** Files of the person's own machine; one, unless several are asked for. */
export function FileField({ label, accept, hint, error, isMultiple = false, onChange }: FileFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} isRequired>
      {(ids) => (
        <input
          {...ids}
          className={controlClass}
          type="file"
          accept={accept}
          multiple={isMultiple}
          onChange={(event) => onChange([...(event.currentTarget.files ?? [])])}
        />
      )}
    </Field>
  );
}
