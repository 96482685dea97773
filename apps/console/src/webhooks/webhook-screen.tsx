/** One webhook: its settings without secrets, its latest deliveries, and what a manager of the tenant does with it. */
import { Link } from '@tanstack/react-router';
import { useTenant } from '../api/api-context';
import { t } from '../text/text';
import { Badge } from '../ui/badge';
import { Facts } from '../ui/facts';
import { Notice } from '../ui/notice';
import { ownerFacts } from '../ui/owner-facts';
import { Panel } from '../ui/panel';
import { PlainText } from '../ui/plain-text';
import { Screen } from '../ui/screen';
import { Time } from '../ui/time';
import { LatestDeliveries } from './latest-deliveries';
import { ReadWebhook } from './read-webhook';
import { WebhookActions } from './webhook-actions';
import { eventsText, filterText } from './webhook-entry';
import type { WebhookDetail } from './webhooks';
import { stateOf } from './webhooks-screen';

export const WebhookScreen = () => <ReadWebhook>{(webhook) => <Shown webhook={webhook} />}</ReadWebhook>;

function Shown({ webhook }: { webhook: WebhookDetail }) {
  const tenant = useTenant();
  const { id, template } = webhook;
  return (
    <Screen
      name={id}
      title={
        <>
          {id} <Badge status={stateOf(webhook)} />
        </>
      }
      above={
        <Link to="/$tenant/webhooks" params={{ tenant }}>
          {t.webhooks.title}
        </Link>
      }
      side={<WebhookActions webhook={webhook} />}
    >
      {!webhook.is_enabled && (
        <Notice>
          {webhook.disabled_reason && <p>{t.webhooks.disabledBecause(webhook.disabled_reason)}</p>}
          <p>{t.webhooks.disabledHint}</p>
        </Notice>
      )}
      <Panel>
        <Facts facts={factsOf(webhook, tenant)} />
      </Panel>
      {template && (
        <Panel title={t.webhooks.template}>
          <PlainText text={template} name={t.webhooks.template} />
        </Panel>
      )}
      <LatestDeliveries webhook={webhook} />
    </Screen>
  );
}

const factsOf = (webhook: WebhookDetail, tenant: string): Parameters<typeof Facts>[0]['facts'] => [
  [t.webhooks.url, webhook.url],
  [t.webhooks.events, eventsText(webhook.events)],
  [t.webhooks.filter, filterText(webhook.filter)],
  [t.webhooks.format, t.webhooks.formats[webhook.format] ?? webhook.format],
  [t.webhooks.order, webhook.order_by && t.webhooks.ordered],
  [t.webhooks.maxAttempts, t.number(webhook.max_attempts)],
  [t.webhooks.headers, webhook.header_names.join(', ')],
  [t.webhooks.formerKey, webhook.former_key_until && <Time key="former" at={webhook.former_key_until} />],
  [t.webhooks.disabledSince, webhook.disabled_at && <Time key="disabled" at={webhook.disabled_at} />],
  ...ownerFacts(webhook, tenant),
];
