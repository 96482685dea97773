/** The body of a request, in the format that the webhook names. It is made once: all attempts send the same bytes. */
import { badParameter, nearestName } from '@baton/kernel';
import type { Subscription, WebhookEvent } from './event';

export interface Payload {
  body: string;
  contentType: string;
}

const MAX_BYTES = 256 * 1024;
const JSON_TYPE = 'application/json';
const FIELD = /\{\{\s*([A-Za-z0-9_.]+)\s*\}\}/g;
const TOP_FIELDS = ['type', 'id', 'timestamp', 'tenant'];

/** `id`: value of the header webhook-id. */
export function renderPayload(
  of: Pick<Subscription, 'format' | 'template'>,
  event: WebhookEvent,
  id: string,
): Payload {
  const full = rendered(of, event, id);
  if (Buffer.byteLength(full.body) <= MAX_BYTES) return full;
  // Whoever needs more reads it by the link.
  const ids = Object.entries(event.data).filter(([name]) => name.endsWith('_id') || name === 'link');
  const small = { ...event, data: Object.fromEntries(ids) };
  return rendered({ format: 'standard', template: null }, small, id);
}

function rendered(
  { format, template }: Pick<Subscription, 'format' | 'template'>,
  event: WebhookEvent,
  id: string,
): Payload {
  const { type, time, data, tenant } = event;
  switch (format) {
    case 'standard':
      return { body: JSON.stringify({ type, timestamp: time, data }), contentType: JSON_TYPE };
    case 'cloudevents': {
      const head = { specversion: '1.0', id, source: `/tenants/${tenant}`, type: `baton.${type}`, time };
      const body = JSON.stringify({ ...head, datacontenttype: JSON_TYPE, data });
      return { body, contentType: 'application/cloudevents+json' };
    }
    case 'slack':
      return { body: JSON.stringify({ text: slackText(event) }), contentType: JSON_TYPE };
    case 'template':
      return { body: filled(template ?? '', event, id), contentType: JSON_TYPE };
  }
}

/** One line: `*execution.finished* deployment_id: d1, status: failed`. Ids could otherwise contain markup or a mention. */
function slackText({ type, data }: WebhookEvent): string {
  const escaped = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const parts = Object.entries(data)
    .filter(([name, value]) => name !== 'link' && value !== null && value !== '')
    .map(([name, value]) => `${name}: ${escaped(String(value))}`);
  return `*${type}* ${parts.join(', ')}`;
}

/** Replaces the fields of a template. Values are escaped for JSON texts, so no value can add to the document. */
function filled(template: string, event: WebhookEvent, id: string): string {
  const top: Record<string, string> = { type: event.type, id, timestamp: event.time, tenant: event.tenant };
  return template.replace(FIELD, (_all, name: string) => {
    const inner = name.startsWith('data.') ? name.slice('data.'.length) : null;
    const value =
      inner === null ? top[name] : Object.hasOwn(event.data, inner) ? event.data[inner] : undefined;
    const text = value === undefined || value === null ? '' : String(value);
    return JSON.stringify(text).slice(1, -1);
  });
}

/** Stands for every value in the check: outside of a JSON text it gives no JSON. */
const SAMPLE = 'x\\"';

/** Checks that a template names known fields and gives JSON. @throws AppError bad_parameters_error */
export function checkTemplate(template: string): void {
  for (const [, name] of template.matchAll(FIELD)) {
    if (name!.startsWith('data.') || TOP_FIELDS.includes(name!)) continue;
    throw badParameter('template', `The template names the unknown field \`${name}\``, {
      expected: [...TOP_FIELDS, 'data.<field>'],
      nearest: nearestName(name!, TOP_FIELDS),
    });
  }
  try {
    JSON.parse(template.replace(FIELD, () => SAMPLE));
  } catch (cause) {
    throw badParameter('template', `The template gives no JSON: ${(cause as Error).message}`, {
      expected: 'JSON with {{fields}} inside of its texts',
    });
  }
}
