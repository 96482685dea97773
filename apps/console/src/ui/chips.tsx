import { Check } from 'lucide-react';
import { statusText, t } from '../text/text';
import styles from './chips.module.css';
import { toneOf } from './tone';

/** Statuses with their counts, as toggle buttons. */
export function Chips<Status extends string>({
  label,
  statuses,
  counts,
  chosen,
  onChange,
}: {
  label: string;
  statuses: readonly Status[];
  counts: Readonly<Record<string, number>> | undefined;
  chosen: readonly Status[];
  onChange: (chosen: Status[]) => void;
}) {
  const change = (status: Status): void =>
    onChange(chosen.includes(status) ? chosen.filter((one) => one !== status) : [...chosen, status]);
  return (
    <fieldset className={styles.chips}>
      <legend className="visually-hidden">{label}</legend>
      {statuses.map((status) => {
        const isChosen = chosen.includes(status);
        return (
          <button
            key={status}
            type="button"
            className={styles.chip}
            aria-pressed={isChosen}
            onClick={() => change(status)}
          >
            {isChosen ? (
              <Check size={14} aria-hidden="true" />
            ) : (
              <span className={styles.dot} data-tone={toneOf(status)} aria-hidden="true" />
            )}
            {statusText(status)}
            <span className={styles.count}>{counts ? t.number(counts[status] ?? 0) : ''}</span>
          </button>
        );
      })}
    </fieldset>
  );
}
