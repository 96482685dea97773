/** One delivery with its payload. One that has ended can be sent again. */
import { useQuery } from '@tanstack/react-query';
import { useApi, useTenant } from '../api/api-context';
import { useChange } from '../api/use-change';
import { t } from '../text/text';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Facts } from '../ui/facts';
import { PlainText } from '../ui/plain-text';
import { InlineProblem, Loaded } from '../ui/states';
import { Time, TimeLeft } from '../ui/time';
import { type Delivery, deliveryQuery, redeliver, WEBHOOKS, type WebhookDetail } from './webhooks';

interface DeliveryDialogProps {
  webhook: Pick<WebhookDetail, 'id' | 'is_enabled'>;
  id: string;
  onClose: () => void;
}

export default function DeliveryDialog({ webhook, id, onClose }: DeliveryDialogProps) {
  const { client } = useApi();
  const tenant = useTenant();
  const query = useQuery(deliveryQuery(client, tenant, webhook.id, id));
  const again = useChange([WEBHOOKS], () => redeliver(client, tenant, webhook.id, id));
  const hasEnded = query.data !== undefined && query.data.state !== 'pending';
  return (
    <Dialog
      title={query.data ? t.deliveries.oneOf(query.data.event) : t.deliveries.title}
      onClose={onClose}
      actions={
        hasEnded && (
          <Button
            look="main"
            disabled={!webhook.is_enabled || again.isPending}
            onClick={() => again.mutate()}
          >
            {t.deliveries.again}
          </Button>
        )
      }
    >
      <Loaded query={query}>{(delivery) => <Shown delivery={delivery} />}</Loaded>
      {hasEnded && !webhook.is_enabled && <p>{t.deliveries.againHint}</p>}
      <InlineProblem error={again.error} />
    </Dialog>
  );
}

function Shown({ delivery }: { delivery: Delivery }) {
  const texts = t.deliveries;
  const status = delivery.last_status === null ? texts.noAnswer : String(delivery.last_status);
  return (
    <>
      <Facts
        facts={[
          [texts.state, <Badge key="state" status={delivery.state} />],
          [texts.attempts, t.number(delivery.attempts)],
          [texts.status, delivery.attempts > 0 ? status : null],
          [texts.next, delivery.next_attempt_at && <TimeLeft key="next" at={delivery.next_attempt_at} />],
          [texts.givenUp, delivery.state === 'pending' ? <Time key="end" at={delivery.give_up_at} /> : null],
          [texts.created, <Time key="created" at={delivery.created_at} />],
          [texts.ended, delivery.ended_at && <Time key="ended" at={delivery.ended_at} />],
          [texts.id, delivery.id],
          [texts.error, delivery.error],
        ]}
      />
      <h3>{texts.payload}</h3>
      <PlainText text={delivery.payload} name={texts.payload} />
      {delivery.answer && (
        <>
          <h3>{texts.body}</h3>
          <PlainText text={delivery.answer} name={texts.body} />
        </>
      )}
    </>
  );
}
