/** Rows of two texts: parameters with pointers, headers with values, tenants with roles. */
import { X } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { t } from '../text/text';
import { AddRow } from './add-row';
import { Button } from './button';
import { type Choices, controlClass, Options } from './field';
import { GroupField } from './group-field';
import styles from './group-field.module.css';
import { Suggestions } from './suggestions';

export type Pair = readonly [first: string, second: string];

interface PairRowsProps {
  label: string;
  /** Names of the two parts. */
  names: readonly [first: string, second: string];
  rows: readonly Pair[];
  onChange: (rows: Pair[]) => void;
  addText: string;
  hint?: ReactNode;
  /** Of all rows. */
  error?: string | null;
  /** Error of a row by its index; null: there is none. */
  rowError?: (at: number) => string | null;
  /** Known texts of the first part. */
  suggestions?: readonly string[];
  /** The second part is one of these; without them it is a text. */
  choices?: Choices;
  /** The second part is not readable while somebody types. */
  isSecret?: boolean;
}

export function PairRows(props: PairRowsProps) {
  const { label, rows, onChange, addText, suggestions, choices } = props;
  const listId = useId();
  return (
    <GroupField label={label} hint={props.hint} error={props.error}>
      {rows.map((row, at) => (
        <PairRow
          // A row has no key other than its index while it is edited.
          key={at}
          names={props.names}
          number={at + 1}
          row={row}
          error={props.rowError?.(at) ?? null}
          listId={listId}
          choices={choices}
          isSecret={props.isSecret ?? false}
          onChange={(next) => onChange(rows.map((one, i) => (i === at ? next : one)))}
          onRemove={() => onChange(rows.filter((_, i) => i !== at))}
        />
      ))}
      <Suggestions id={listId} texts={suggestions} />
      <AddRow text={addText} onClick={() => onChange([...rows, ['', choices?.[0]?.[0] ?? '']])} />
    </GroupField>
  );
}

interface PairRowProps {
  names: readonly [first: string, second: string];
  number: number;
  row: Pair;
  error: string | null;
  listId: string;
  choices: Choices | undefined;
  isSecret: boolean;
  onChange: (row: Pair) => void;
  onRemove: () => void;
}

function PairRow({ names, number, row, error, listId, choices, isSecret, onChange, onRemove }: PairRowProps) {
  const id = useId();
  const [first, second] = row;
  const common = {
    className: controlClass,
    autoComplete: 'off',
    spellCheck: false,
    'aria-invalid': error ? (true as const) : undefined,
    'aria-describedby': error ? `${id}-error` : undefined,
  };
  const ofSecond = {
    ...common,
    'aria-label': t.pairs.part(names[1], number),
    value: second,
    onChange: (event: { currentTarget: { value: string } }) => onChange([first, event.currentTarget.value]),
  };
  return (
    <div className={styles.pair}>
      <input
        {...common}
        aria-label={t.pairs.part(names[0], number)}
        placeholder={names[0]}
        list={listId}
        value={first}
        onChange={(event) => onChange([event.currentTarget.value, second])}
      />
      {choices ? (
        <select {...ofSecond}>
          <Options of={choices} />
        </select>
      ) : (
        <input
          {...ofSecond}
          placeholder={names[1]}
          type={isSecret ? 'password' : 'text'}
          autoComplete={isSecret ? 'new-password' : 'off'}
        />
      )}
      <Button look="icon" aria-label={t.pairs.remove(names[0], number)} onClick={onRemove}>
        <X size={16} aria-hidden="true" />
      </Button>
      {error && (
        <p id={`${id}-error`} className={styles.error}>
          {error}
        </p>
      )}
    </div>
  );
}
