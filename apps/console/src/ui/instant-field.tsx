import { useSettings } from '../settings/settings';
import { controlClass } from './field';
import styles from './instant-field.module.css';
import { inputText, instantOf } from './instant-input';

/** Input for date and time in a filter bar, in the selected time zone. */
export function InstantField({
  label,
  value,
  onChange,
}: {
  label: string;
  /** ISO 8601 instant. */
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const { zone } = useSettings();
  return (
    <label className={styles.field}>
      {label}
      <input
        type="datetime-local"
        step={1}
        className={controlClass}
        value={inputText(value, zone)}
        onChange={(event) => onChange(instantOf(event.currentTarget.value, zone))}
      />
    </label>
  );
}
