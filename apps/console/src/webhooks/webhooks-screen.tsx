/** Webhooks of the tenant: where they lead, what they hear, whether they are enabled, and how the latest delivery is. */
import { Link } from '@tanstack/react-router';
import { lazy } from 'react';
import { useTenant } from '../api/api-context';
import { t } from '../text/text';
import { Badge } from '../ui/badge';
import { CreatingList } from '../ui/creating-list';
import { Permitted } from '../ui/permitted';
import cells from '../ui/row-cells.module.css';
import { Time } from '../ui/time';
import type { ListColumn } from '../ui/virtual-list';
import { EnabledFilter } from './enabled-filter';
import { eventsText } from './webhook-entry';
import { MANAGES_WEBHOOKS, type WebhookRow, webhookList } from './webhooks';

const WebhookForm = lazy(() => import('./webhook-form'));

const SORT = ['id'];

export function WebhooksScreen() {
  const tenant = useTenant();
  return (
    <Permitted permission={MANAGES_WEBHOOKS}>
      <CreatingList
        name={t.webhooks.title}
        label={t.webhooks.title}
        list={webhookList}
        columns={columnsFor(tenant)}
        keyOf={({ id }) => id}
        count={t.webhooks.count}
        sort={SORT}
        searchLabel={t.webhooks.search}
        filters={<EnabledFilter label={t.webhooks.state} />}
        permission={MANAGES_WEBHOOKS}
        create={t.webhooks.create}
        empty={{ title: t.webhooks.empty, hint: t.webhooks.emptyHint }}
        form={(close) => <WebhookForm webhook={null} onClose={close} />}
      />
    </Permitted>
  );
}

const columnsFor = (tenant: string): ListColumn<WebhookRow>[] => [
  {
    id: 'id',
    name: t.webhooks.id,
    width: 'minmax(180px, 2fr)',
    cell: (row) => (
      <span className={cells.main}>
        <Link className={cells.link} to="/$tenant/webhooks/$id" params={{ tenant, id: row.id }}>
          {row.id}
        </Link>
        <span className={cells.sub}>{row.url}</span>
        <span className={`${cells.line} narrow-only`}>
          <Badge status={stateOf(row)} isBare />
          <LastDelivery row={row} />
        </span>
      </span>
    ),
  },
  {
    id: 'events',
    name: t.webhooks.events,
    width: 'minmax(140px, 1.4fr)',
    isWideOnly: true,
    cell: ({ events }) => <span className={cells.cut}>{eventsText(events)}</span>,
  },
  {
    id: 'state',
    name: t.webhooks.state,
    width: 'minmax(220px, 1.3fr)',
    isWideOnly: true,
    cell: (row) => (
      <span className={cells.main} title={row.disabled_reason ?? undefined}>
        <span className={cells.pair}>
          <Badge status={stateOf(row)} />
        </span>
        {row.disabled_reason && <span className={cells.sub}>{row.disabled_reason}</span>}
      </span>
    ),
  },
  {
    id: 'last',
    name: t.webhooks.lastDelivery,
    width: 'minmax(240px, 1.4fr)',
    isWideOnly: true,
    cell: (row) => <LastDelivery row={row} />,
  },
];

/** One that the manager has disabled is told from one that a person has. */
export const stateOf = (row: Pick<WebhookRow, 'is_enabled' | 'disabled_reason'>): string =>
  row.is_enabled ? 'enabled' : row.disabled_reason ? 'gave_up' : 'disabled';

function LastDelivery({ row }: { row: WebhookRow }) {
  if (!row.last_delivery_at) return <span className={cells.quiet}>{t.webhooks.noDelivery}</span>;
  return (
    <span className={cells.pair}>
      <Badge status={row.last_delivery_state} isBare /> <Time at={row.last_delivery_at} />
    </span>
  );
}
