import type { Command } from 'commander';
import { collectTexts } from '../key-values';
import { type Cli, noun, number, type Options, option, repeated, required } from '../layer/define';
import { callCommand, deleteCommand, getCommand, listCommand } from '../layer/resource';

const SHOWN = {
  columns: ['id', 'url', 'events', 'format', 'is_enabled', 'disabled_reason', 'created_at'],
  wide: [
    'last_delivery_state',
    'last_delivery_at',
    'filter',
    'max_attempts',
    'order_by',
    'header_names',
    'former_key_until',
    'created_by',
  ],
};
const DELIVERIES = {
  columns: ['id', 'event', 'state', 'attempts', 'last_status', 'error', 'created_at'],
  wide: ['next_attempt_at', 'give_up_at', 'ended_at'],
};
const WITH_SECRET = ['id', 'url', 'secret'];

/** `baton webhooks ...`: what other systems are told (docs/webhooks.md). */
export function webhookCommands(cli: Cli): void {
  const webhooks = noun(cli, 'webhooks', {
    alias: 'webhook',
    about: 'what other systems are told of executions, deployments and blueprints',
    examples: [
      'webhooks create chat --to https://hooks.example.org/baton -e execution.finished --only status=failed',
      'webhooks deliveries chat --where state=pending',
      'webhooks ping chat',
    ],
  });
  listCommand(cli, webhooks, { ...SHOWN, operation: 'listWebhooks', about: 'list webhooks' });
  getCommand(cli, webhooks, {
    ...SHOWN,
    operation: 'getWebhook',
    param: 'webhook_id',
    about: 'show a webhook without its secrets',
    more: ['template'],
  });
  writeCommands(cli, webhooks);
  deliveryCommands(cli, webhooks);
}

const settings = () => [
  repeated('-e, --event <name>', 'event to be told of, such as execution.finished; * = all'),
  repeated('--only <field=value>', 'only these: deployment_id, blueprint_id, workflow_id or status'),
  option('--format <format>', 'standard, cloudevents, slack or template'),
  option('--template <text>', 'JSON of the format template, with {{type}} or {{data.status}}'),
  number('--max-attempts <number>', 'attempts before a delivery is given up'),
  option('--ordered', 'events of a deployment arrive one after the other'),
  repeated('--header <name=value>', 'more headers; values are stored encrypted'),
];

function settingsOf({ event, only, format, template, maxAttempts, ordered, header }: Options) {
  return {
    ...(event.length > 0 && { events: event }),
    ...(only.length > 0 && { filter: collectTexts('--only', only) }),
    format,
    template,
    max_attempts: maxAttempts,
    ...(ordered && { order_by: 'deployment' as const }),
    ...(header.length > 0 && { headers: collectTexts('--header', header) }),
  };
}

function writeCommands(cli: Cli, webhooks: Command): void {
  callCommand(cli, webhooks, {
    name: 'create <id>',
    about: 'create a webhook; its signing secret is shown this once',
    operation: 'createWebhook',
    options: [required('--to <url>', 'address that is told'), ...settings()],
    request: ([webhook_id], o) => ({
      params: { webhook_id },
      body: { events: ['*'], ...settingsOf(o), url: o.to } as never,
    }),
    fields: WITH_SECRET,
  });
  callCommand(cli, webhooks, {
    name: 'update <id>',
    about: 'change a webhook; what is not named stays',
    operation: 'updateWebhook',
    options: [option('--to <url>', 'address that is told'), ...settings()],
    request: ([webhook_id], o) => ({
      params: { webhook_id },
      body: { ...settingsOf(o), ...(o.to !== undefined && { url: o.to }) } as never,
    }),
    done: ([id]) => `Webhook ${id} changed.`,
  });
  for (const [action, isEnabled, about] of [
    ['enable', true, 'send again; waiting deliveries get a new start'],
    ['disable', false, 'send nothing until it is enabled'],
  ] as const)
    callCommand(cli, webhooks, {
      name: `${action} <id>`,
      about,
      operation: 'updateWebhook',
      request: ([webhook_id]) => ({ params: { webhook_id }, body: { is_enabled: isEnabled } }),
      done: ([id]) => `Webhook ${id} is ${action}d.`,
    });
  callCommand(cli, webhooks, {
    name: 'rotate <id>',
    about: 'make a new signing secret, which is shown this once',
    operation: 'rotateWebhook',
    options: [number('--overlap <seconds>', 'how long requests are signed with both secrets', 86_400)],
    request: ([webhook_id], o) => ({ params: { webhook_id }, body: { overlap_s: o.overlap } }),
    fields: [...WITH_SECRET, 'former_key_until'],
  });
  deleteCommand(cli, webhooks, {
    operation: 'deleteWebhook',
    param: 'webhook_id',
    about: 'delete a webhook with its deliveries',
    kind: 'Webhook',
  });
}

function deliveryCommands(cli: Cli, webhooks: Command): void {
  callCommand(cli, webhooks, {
    name: 'ping <id>',
    about: 'send the event ping',
    operation: 'pingWebhook',
    request: ([webhook_id]) => ({ params: { webhook_id } }),
    done: ([id], { id: delivery }) => `Webhook ${id} is told; delivery ${delivery}.`,
  });
  listCommand(cli, webhooks, {
    ...DELIVERIES,
    operation: 'listWebhookDeliveries',
    command: 'deliveries <id>',
    param: 'webhook_id',
    about: 'list what was sent, or waits to be sent',
  });
  const ofDelivery = ([webhook_id, delivery_id]: readonly string[]) => ({
    params: { webhook_id: webhook_id!, delivery_id: delivery_id! },
  });
  callCommand(cli, webhooks, {
    name: 'delivery <id> <delivery>',
    about: 'show a delivery with its payload',
    operation: 'getWebhookDelivery',
    request: ofDelivery,
    fields: [...DELIVERIES.columns, ...DELIVERIES.wide, 'content_type', 'payload', 'answer'],
  });
  callCommand(cli, webhooks, {
    name: 'redeliver <id> <delivery>',
    about: 'send a delivery again that has ended',
    operation: 'redeliverWebhook',
    request: ofDelivery,
    done: ([, delivery]) => `Delivery ${delivery} is sent again.`,
  });
}
