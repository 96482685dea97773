/** Labels as rows of key and value. Suggests keys and values that are already in use. */
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useId, useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { type Labelled, labelNamesQuery } from '../api/plans';
import { t } from '../text/text';
import { AddRow } from '../ui/add-row';
import { Button } from '../ui/button';
import { controlClass } from '../ui/field';
import { GroupField } from '../ui/group-field';
import { Suggestions } from '../ui/suggestions';
import type { LabelDraft } from './label-drafts';
import styles from './labels-editor.module.css';

interface LabelsEditorProps {
  /** The kind of labelled resource: suggestions are labels of the same kind. */
  of: Labelled;
  drafts: readonly LabelDraft[];
  /** Errors by row number. */
  errors: Readonly<Record<number, string>>;
  onChange: (drafts: LabelDraft[]) => void;
}

export function LabelsEditor({ of, drafts, errors, onChange }: LabelsEditorProps) {
  const { client } = useApi();
  const listId = useId();
  const { data: keys } = useQuery(labelNamesQuery(client, useTenant(), of, null));
  return (
    <GroupField label={t.labels.title}>
      {drafts.map((draft, row) => (
        <LabelRow
          // A row has no key other than its index while it is edited.
          key={row}
          of={of}
          number={row + 1}
          draft={draft}
          error={errors[row]}
          keysId={listId}
          onChange={(next) => onChange(drafts.map((one, at) => (at === row ? next : one)))}
          onRemove={() => onChange(drafts.filter((_, at) => at !== row))}
        />
      ))}
      <Suggestions id={listId} texts={keys} />
      <AddRow text={t.labels.add} onClick={() => onChange([...drafts, { key: '', value: '' }])} />
    </GroupField>
  );
}

interface LabelRowProps {
  of: Labelled;
  number: number;
  draft: LabelDraft;
  error: string | undefined;
  keysId: string;
  onChange: (draft: LabelDraft) => void;
  onRemove: () => void;
}

function LabelRow({ of, number, draft, error, keysId, onChange, onRemove }: LabelRowProps) {
  const { client } = useApi();
  const id = useId();
  const tenant = useTenant();
  const [isAsked, setAsked] = useState(false);
  const values = useQuery({
    ...labelNamesQuery(client, tenant, of, draft.key),
    enabled: isAsked && draft.key !== '',
  });
  const common = {
    className: controlClass,
    autoComplete: 'off',
    spellCheck: false,
    'aria-invalid': error ? (true as const) : undefined,
    'aria-describedby': error ? `${id}-error` : undefined,
  };
  return (
    <div className={styles.row}>
      <input
        {...common}
        aria-label={t.labels.key(number)}
        placeholder={t.labels.keyHint}
        list={keysId}
        value={draft.key}
        onChange={(event) => onChange({ ...draft, key: event.currentTarget.value })}
      />
      <input
        {...common}
        aria-label={t.labels.value(number)}
        placeholder={t.labels.valueHint}
        list={`${id}-values`}
        onFocus={() => setAsked(true)}
        value={draft.value}
        onChange={(event) => onChange({ ...draft, value: event.currentTarget.value })}
      />
      <Suggestions id={`${id}-values`} texts={values.data} />
      <Button look="icon" aria-label={t.labels.remove(number)} onClick={onRemove}>
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
