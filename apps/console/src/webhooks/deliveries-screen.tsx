/** All deliveries of a webhook that the manager still has, newest first. */
import { webhookEvents } from '@baton/contracts/webhook-events';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTenant } from '../api/api-context';
import { choicesOf } from '../search-params';
import { statusText, t } from '../text/text';
import { BarSelect } from '../ui/field';
import { ListScreen } from '../ui/list-screen';
import cells from '../ui/row-cells.module.css';
import { Empty } from '../ui/states';
import { Time } from '../ui/time';
import { useAddress } from '../ui/use-address';
import type { ListColumn } from '../ui/virtual-list';
import { AnswerText, StateCell } from './delivery-cells';
import { OpenDelivery } from './open-delivery';
import { ReadWebhook } from './read-webhook';
import { DELIVERY_STATES, type DeliverySearch, deliveryQueryOf } from './webhook-search';
import { type DeliveryRow, deliveryList, type WebhookDetail } from './webhooks';

const NEWEST_FIRST = ['-created_at', 'id'];
/** Sent on request only, so it is none of those that a webhook chooses. */
const EVENTS = ['ping', ...webhookEvents];

export const DeliveriesScreen = () => <ReadWebhook>{(webhook) => <Shown webhook={webhook} />}</ReadWebhook>;

function Shown({ webhook }: { webhook: WebhookDetail }) {
  const { id } = webhook;
  const tenant = useTenant();
  const list = useMemo(() => deliveryList(id), [id]);
  return (
    <>
      <ListScreen
        name={t.deliveries.of(id)}
        label={t.deliveries.title}
        list={list}
        columns={COLUMNS}
        keyOf={(row) => row.id}
        count={t.deliveries.count}
        sort={NEWEST_FIRST}
        queryOf={deliveryQueryOf}
        filters={<DeliveryFilters />}
        above={
          <Link to="/$tenant/webhooks/$id" params={{ tenant, id }}>
            {id}
          </Link>
        }
        empty={<Empty title={t.deliveries.none} hint={t.deliveries.hint} />}
      />
      <OpenDelivery webhook={webhook} />
    </>
  );
}

function DeliveryFilters() {
  const { search, change } = useAddress<DeliverySearch>();
  return (
    <>
      <BarSelect
        label={t.deliveries.state}
        value={search.state?.[0] ?? ''}
        options={[
          ['', t.deliveries.anyState],
          ...DELIVERY_STATES.map((one) => [one, statusText(one)] as const),
        ]}
        onChange={(state) => change({ state: choicesOf(state, DELIVERY_STATES) })}
      />
      <BarSelect
        label={t.deliveries.event}
        value={search.event ?? ''}
        options={[['', t.deliveries.anyEvent], ...EVENTS.map((one) => [one, one] as const)]}
        onChange={(event) => change({ event: event || undefined })}
      />
    </>
  );
}

const COLUMNS: ListColumn<DeliveryRow>[] = [
  {
    id: 'event',
    name: t.deliveries.event,
    width: 'minmax(160px, 1.4fr)',
    cell: (row) => (
      <span className={cells.main}>
        <Link
          className={cells.link}
          to="."
          search={((now: DeliverySearch) => ({ ...now, delivery: row.id })) as never}
        >
          {row.event}
        </Link>
        <span className={`${cells.line} narrow-only`}>
          <StateCell row={row} />
          <Time at={row.created_at} />
        </span>
      </span>
    ),
  },
  {
    id: 'state',
    name: t.deliveries.state,
    width: 'minmax(150px, 1fr)',
    isWideOnly: true,
    cell: (row) => <StateCell row={row} />,
  },
  {
    id: 'attempts',
    name: t.deliveries.attempts,
    width: '90px',
    isWideOnly: true,
    cell: ({ attempts }) => t.number(attempts),
  },
  {
    id: 'answer',
    name: t.deliveries.answer,
    width: 'minmax(160px, 2fr)',
    isWideOnly: true,
    cell: (row) => (
      <span className={cells.cut}>
        <AnswerText of={row} />
      </span>
    ),
  },
  {
    id: 'created',
    name: t.deliveries.created,
    width: '170px',
    isWideOnly: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];
