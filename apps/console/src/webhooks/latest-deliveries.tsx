import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi, useTenant } from '../api/api-context';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { Panel } from '../ui/panel';
import { type Column, SimpleTable } from '../ui/simple-table';
import { Loaded } from '../ui/states';
import { Time } from '../ui/time';
import { useAddress } from '../ui/use-address';
import { AnswerText, StateCell } from './delivery-cells';
import { OpenDelivery } from './open-delivery';
import type { DeliverySearch } from './webhook-search';
import { type DeliveryRow, latestDeliveriesQuery, type WebhookDetail } from './webhooks';

/** Number of deliveries on the screen of their webhook. */
const SHOWN = 10;

export function LatestDeliveries({ webhook }: { webhook: WebhookDetail }) {
  const { client } = useApi();
  const tenant = useTenant();
  const { change } = useAddress<DeliverySearch>();
  const query = useQuery(latestDeliveriesQuery(client, tenant, webhook.id, SHOWN));
  return (
    <Panel
      title={t.deliveries.latest}
      side={
        <Link to="/$tenant/webhooks/$id/deliveries" params={{ tenant, id: webhook.id }}>
          {t.deliveries.all}
        </Link>
      }
    >
      <Loaded query={query}>
        {(rows) =>
          rows.length === 0 ? (
            <p>{t.deliveries.none}</p>
          ) : (
            <SimpleTable
              label={t.deliveries.latest}
              rows={rows}
              keyOf={({ id }) => id}
              columns={columns((delivery) => change({ delivery }))}
            />
          )
        }
      </Loaded>
      <OpenDelivery webhook={webhook} />
    </Panel>
  );
}

const columns = (onOpen: (id: string) => void): Column<DeliveryRow>[] => [
  { name: t.deliveries.created, cell: ({ created_at }) => <Time at={created_at} /> },
  { name: t.deliveries.event, cell: ({ event }) => event },
  { name: t.deliveries.state, cell: (row) => <StateCell row={row} /> },
  { name: t.deliveries.attempts, cell: ({ attempts }) => t.number(attempts), isNumber: true },
  { name: t.deliveries.answer, cell: (row) => <AnswerText of={row} /> },
  {
    name: t.people.actions,
    cell: ({ id, event }) => (
      <Button aria-label={t.deliveries.openOne(event, id)} onClick={() => onOpen(id)}>
        {t.deliveries.open}
      </Button>
    ),
  },
];
