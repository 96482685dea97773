/** Events as webhooks send them. Payloads hold ids and names only: no parameter, input, output or text of an error. */
import { EVERY_EVENT, type SentEventType } from '@baton/contracts';
import type { Json } from '@baton/kernel';

export interface WebhookEvent {
  /** Of the fact; the same fact always gives the same id. */
  id: string;
  tenant: string;
  type: SentEventType;
  /** ISO instant of the fact. */
  time: string;
  data: Readonly<Record<string, Json>>;
}

/** The part of a webhook that decides which events it gets, and how. */
export interface Subscription {
  events: readonly string[];
  filter: Readonly<Record<string, string | readonly string[]>> | null;
  format: 'standard' | 'cloudevents' | 'slack' | 'template';
  template: string | null;
  order_by: string | null;
}

/** Whether a webhook wants an event. A filter names values for fields of the data; all of its fields must match. */
export function isWanted({ events, filter }: Subscription, event: WebhookEvent): boolean {
  if (!events.includes(event.type) && !events.includes(EVERY_EVENT)) return false;
  return Object.entries(filter ?? {}).every(([field, wanted]) => {
    const value = event.data[field];
    return typeof value === 'string' && [wanted].flat().includes(value);
  });
}

/** Whether a webhook with these events hears of executions. */
export const listensToExecutions = (events: readonly string[]): boolean =>
  events.some((event) => event === EVERY_EVENT || event.startsWith('execution.'));

/** Deliveries with the same key go out one after the other; null: in no order. */
export function orderKeyOf({ order_by }: Subscription, event: WebhookEvent): string | null {
  const id = event.data.deployment_id;
  return order_by === 'deployment' && typeof id === 'string' && id !== '' ? id : null;
}
