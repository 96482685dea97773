/** Settings of a webhook: in the form, and in the format of the API. */
import { EVERY_EVENT, webhookFilterFields } from '@baton/contracts/webhook-events';
import { t } from '../text/text';
import type { Pair } from '../ui/pair-rows';
import { objectOf } from '../ui/pairs';
import type { NewWebhook, WebhookDetail } from './webhooks';

type FilterField = (typeof webhookFilterFields)[number];
export const FORMATS = ['standard', 'cloudevents', 'slack', 'template'] as const;

export interface WebhookEntry {
  url: string;
  events: readonly string[];
  /** For each field the values of which one must match, separated by commas. */
  filter: Readonly<Record<FilterField, string>>;
  format: (typeof FORMATS)[number];
  template: string;
  isOrdered: boolean;
  maxAttempts: string;
  headers: readonly Pair[];
  /** The headers of the entry replace the stored ones. */
  isHeadersNew: boolean;
}

const NO_FILTER = Object.fromEntries(webhookFilterFields.map((field) => [field, ''])) as Record<
  FilterField,
  string
>;

export const NEW_WEBHOOK: WebhookEntry = {
  url: '',
  events: [EVERY_EVENT],
  filter: NO_FILTER,
  format: 'standard',
  template: '',
  isOrdered: false,
  maxAttempts: '20',
  headers: [],
  isHeadersNew: true,
};

/** Returns the entry of an existing webhook. Values of headers are not known: they stay until they are written anew. */
export function entryOf(webhook: WebhookDetail): WebhookEntry {
  return {
    url: webhook.url,
    events: webhook.events,
    filter: {
      ...NO_FILTER,
      ...Object.fromEntries(
        Object.entries(webhook.filter ?? {}).map(([field, values]) => [field, [values].flat().join(', ')]),
      ),
    },
    format: webhook.format,
    template: webhook.template ?? '',
    isOrdered: webhook.order_by === 'deployment',
    maxAttempts: String(webhook.max_attempts),
    headers: webhook.header_names.map((name) => [name, ''] as const),
    isHeadersNew: webhook.header_names.length === 0,
  };
}

/** Returns the events after one was chosen or taken away. All events, and some of them, exclude each other. */
export function chooseEvent(events: readonly string[], event: string, isChosen: boolean): string[] {
  if (event === EVERY_EVENT) return isChosen ? [EVERY_EVENT] : [];
  const others = events.filter((one) => one !== event && one !== EVERY_EVENT);
  return isChosen ? [...others, event] : others;
}

const MOST_ATTEMPTS = 50;

/** Returns the errors, by the name of the field in the request body. */
export function faultsOf(entry: WebhookEntry): Record<string, string> {
  const { events, format, template, maxAttempts, headers, isHeadersNew } = entry;
  const faults: Record<string, string> = {};
  if (events.length === 0) faults.events = t.webhooks.faults.events;
  if (format === 'template' && template.trim() === '') faults.template = t.webhooks.faults.template;
  if (!/^\d{1,2}$/.test(maxAttempts) || Number(maxAttempts) < 1 || Number(maxAttempts) > MOST_ATTEMPTS)
    faults.max_attempts = t.webhooks.faults.attempts;
  if (isHeadersNew)
    for (const [at, [name, value]] of headers.entries())
      if ((name.trim() === '') !== (value === '')) faults[`headers[${at}]`] = t.webhooks.faults.headers;
  return faults;
}

/** Returns the entry in the format of the API. */
export function bodyOf(entry: WebhookEntry): NewWebhook {
  const { url, events, format, template, isOrdered, maxAttempts, headers, isHeadersNew } = entry;
  const filter = Object.fromEntries(
    Object.entries(entry.filter).flatMap(([field, text]) => {
      const values = text.split(',').flatMap((one) => one.trim() || []);
      return values.length === 0 ? [] : [[field, values.length === 1 ? values[0] : values]];
    }),
  );
  return {
    url: url.trim(),
    events: [...events] as NewWebhook['events'],
    filter: Object.keys(filter).length === 0 ? null : filter,
    format,
    template: format === 'template' ? template : null,
    order_by: isOrdered ? 'deployment' : null,
    max_attempts: Number(maxAttempts),
    ...(isHeadersNew && { headers: objectOf(headers) }),
  };
}

/** `status is failed, deployment_id is one of a, b`; an empty text without a filter. */
export const filterText = (filter: WebhookDetail['filter']): string =>
  Object.entries(filter ?? {})
    .map(([field, values]) =>
      t.webhooks.matches(t.webhooks.filterFields[field] ?? field, [values].flat().map(String)),
    )
    .join('; ');

export const eventsText = (events: readonly string[]): string =>
  events.includes(EVERY_EVENT) ? t.webhooks.everyEvent : events.join(', ');
