/** Input for the name of a resource. The manager suggests names during typing; any other text is allowed, too. */
import { useQuery } from '@tanstack/react-query';
import { type InputHTMLAttributes, useId, useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { t } from '../text/text';
import { useRested } from '../ui/use-rested';
import styles from './inputs.module.css';
import { type PickRequest, picksQuery, searchConstraints } from './picks';

/** A change is reported after this pause in typing. */
const REST_MS = 200;

interface PickInputProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'value'> {
  request: Omit<PickRequest, 'text'>;
  text: string;
  onChange: (text: string) => void;
  /** Called when the user selects a suggestion. */
  onTake?: (value: string) => void;
}

export function PickInput({ request, text, onChange, onTake, ...control }: PickInputProps) {
  const { client } = useApi();
  const tenant = useTenant();
  const listId = useId();
  const [isAsked, setAsked] = useState(false);
  const asked = useRested(text, REST_MS);
  const query = picksQuery(client, tenant, { ...request, text: asked });
  const { data, error, isPlaceholderData } = useQuery({
    ...query,
    enabled: isAsked && query.enabled !== false,
  });
  const isNowhere = searchConstraints(request) === null;
  const note = isNowhere
    ? t.forms.needsDeployment
    : error
      ? t.forms.optionsFailed
      : data?.length === 0 && !isPlaceholderData
        ? t.forms.noOptions
        : null;
  return (
    <>
      <input
        {...control}
        list={listId}
        spellCheck={false}
        autoComplete="off"
        value={text}
        onFocus={() => setAsked(true)}
        onChange={(event) => {
          const { value } = event.currentTarget;
          onChange(value);
          if (isTaken(event.nativeEvent) && data?.some((offer) => offer.value === value)) onTake?.(value);
        }}
      />
      <datalist id={listId}>
        {data?.map((offer) => (
          <option key={`${offer.value} ${offer.text}`} value={offer.value}>
            {offer.text ?? offer.value}
          </option>
        ))}
      </datalist>
      {isAsked && note && (
        <p className={styles.hint} role="status">
          {note}
        </p>
      )}
    </>
  );
}

/** Whether the text comes from the list. Typed text may be the beginning of a longer name. */
function isTaken(event: Event): boolean {
  const { inputType } = event as InputEvent;
  return inputType === undefined || inputType === 'insertReplacementText';
}
