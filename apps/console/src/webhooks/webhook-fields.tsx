/** Fields of the settings of a webhook. */
import { EVERY_EVENT, webhookEvents, webhookFilterFields } from '@baton/contracts/webhook-events';
import { t } from '../text/text';
import { Check } from '../ui/field';
import type { ErrorOf } from '../ui/form-dialog';
import { GroupField } from '../ui/group-field';
import styles from '../ui/group-field.module.css';
import { AreaField, SelectField, TextField } from '../ui/inputs';
import { PairRows } from '../ui/pair-rows';
import { chooseEvent, FORMATS, type WebhookEntry } from './webhook-entry';

interface WebhookFieldsProps {
  entry: WebhookEntry;
  /** Names of the headers that are stored. */
  stored: readonly string[];
  onChange: (entry: WebhookEntry) => void;
  errorOf: ErrorOf;
}

export function WebhookFields({ entry, stored, onChange, errorOf }: WebhookFieldsProps) {
  const texts = t.webhooks.form;
  const set = (part: Partial<WebhookEntry>): void => onChange({ ...entry, ...part });
  return (
    <>
      <TextField
        label={t.webhooks.url}
        hint={texts.urlHint}
        value={entry.url}
        onChange={(url) => set({ url })}
        error={errorOf('url')}
        isRequired
      />
      <EventChoice entry={entry} set={set} error={errorOf('events')} />
      <GroupField label={t.webhooks.filter} hint={texts.filterHint} error={errorOf('filter')}>
        <div className={styles.two}>
          {webhookFilterFields.map((field) => (
            <TextField
              key={field}
              label={t.webhooks.filterFields[field] ?? field}
              value={entry.filter[field]}
              onChange={(text) => set({ filter: { ...entry.filter, [field]: text } })}
              error={errorOf(`filter.${field}`)}
            />
          ))}
        </div>
      </GroupField>
      <SelectField
        label={t.webhooks.format}
        value={entry.format}
        options={FORMATS.map((one) => [one, t.webhooks.formats[one] ?? one] as const)}
        onChange={(format) => set({ format })}
        error={errorOf('format')}
      />
      {entry.format === 'template' && (
        <AreaField
          label={texts.template}
          hint={texts.templateHint}
          value={entry.template}
          onChange={(template) => set({ template })}
          error={errorOf('template')}
          isRequired
        />
      )}
      <Check label={texts.ordered} isChecked={entry.isOrdered} onChange={(isOrdered) => set({ isOrdered })} />
      <TextField
        label={t.webhooks.maxAttempts}
        hint={texts.attemptsHint}
        inputMode="numeric"
        value={entry.maxAttempts}
        onChange={(maxAttempts) => set({ maxAttempts })}
        error={errorOf('max_attempts')}
      />
      <Headers entry={entry} stored={stored} set={set} errorOf={errorOf} />
    </>
  );
}

interface PartProps {
  entry: WebhookEntry;
  set: (part: Partial<WebhookEntry>) => void;
}

function EventChoice({ entry, set, error }: PartProps & { error: string | null }) {
  const check = (event: string, text: string) => (
    <Check
      key={event}
      label={text}
      isChecked={entry.events.includes(event)}
      onChange={(isChosen) => set({ events: chooseEvent(entry.events, event, isChosen) })}
    />
  );
  return (
    <GroupField label={t.webhooks.events} error={error}>
      {check(EVERY_EVENT, t.webhooks.form.every)}
      <div className={styles.checks}>{webhookEvents.map((event) => check(event, event))}</div>
    </GroupField>
  );
}

function Headers({
  entry,
  stored,
  set,
  errorOf,
}: PartProps & Pick<WebhookFieldsProps, 'stored' | 'errorOf'>) {
  const texts = t.webhooks.form;
  return (
    <>
      {stored.length > 0 && (
        <Check
          label={texts.headersNew(stored.join(', '))}
          isChecked={entry.isHeadersNew}
          onChange={(isHeadersNew) => set({ isHeadersNew })}
        />
      )}
      {entry.isHeadersNew && (
        <PairRows
          label={t.webhooks.headers}
          hint={texts.headersHint}
          names={[texts.headerName, texts.headerValue]}
          rows={entry.headers}
          onChange={(headers) => set({ headers })}
          addText={texts.addHeader}
          error={errorOf('headers')}
          rowError={(at) => errorOf(`headers[${at}]`) ?? errorOf(`headers.${entry.headers[at]![0].trim()}`)}
          isSecret
        />
      )}
    </>
  );
}
