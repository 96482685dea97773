/** Events that webhooks can subscribe to, and the fields of their `data` by which a webhook may filter. */

export const webhookEvents = [
  'execution.started',
  'execution.finished',
  'execution.cancelled',
  'deployment.created',
  'deployment.updated',
  'deployment.drift_changed',
  'deployment.deleted',
  'blueprint.uploaded',
  'blueprint.deleted',
  'webhook.disabled',
] as const;
export type WebhookEventType = (typeof webhookEvents)[number];

/** Stands for all events, those of later releases included. */
export const EVERY_EVENT = '*';

/** `ping` is sent on request only, whatever the webhook subscribes to. */
export type SentEventType = WebhookEventType | 'ping';

export const webhookFilterFields = ['deployment_id', 'blueprint_id', 'workflow_id', 'status'] as const;
