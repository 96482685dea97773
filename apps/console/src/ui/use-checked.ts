import { useState } from 'react';

interface Checked {
  /** Errors by field, of the last check. */
  errors: Readonly<Record<string, string>>;
  onSubmit: () => void;
}

/**
 * What a `FormDialog` needs of a form that this page checks first. `check` returns the errors by field; without errors,
 * `send` is called.
 */
export function useChecked(check: () => Record<string, string>, send: () => void): Checked {
  const [errors, setErrors] = useState<Record<string, string>>({});
  const onSubmit = (): void => {
    const found = check();
    setErrors(found);
    if (Object.keys(found).length === 0) send();
  };
  return { errors, onSubmit };
}
