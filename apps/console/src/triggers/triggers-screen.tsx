/** Triggers: what each starts, and when it was called. Users see their own; managers of the tenant see all. */
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
import { EnabledFilter } from '../webhooks/enabled-filter';
import { LISTS_TRIGGERS, MAKES_TRIGGERS, type TriggerRow, triggerList } from './triggers';

const TriggerForm = lazy(() => import('./trigger-form'));

const SORT = ['id'];

export function TriggersScreen() {
  const tenant = useTenant();
  return (
    <Permitted permission={LISTS_TRIGGERS}>
      <CreatingList
        name={t.triggers.title}
        label={t.triggers.title}
        list={triggerList}
        columns={columnsFor(tenant)}
        keyOf={({ id }) => id}
        count={t.triggers.count}
        sort={SORT}
        searchLabel={t.triggers.search}
        filters={<EnabledFilter label={t.triggers.state} />}
        permission={MAKES_TRIGGERS}
        create={t.triggers.create}
        empty={{ title: t.triggers.empty, hint: t.triggers.emptyHint }}
        form={(close) => <TriggerForm trigger={null} onClose={close} />}
      />
    </Permitted>
  );
}

const columnsFor = (tenant: string): ListColumn<TriggerRow>[] => [
  {
    id: 'id',
    name: t.triggers.id,
    width: 'minmax(180px, 2fr)',
    cell: (row) => (
      <span className={cells.main}>
        <Link className={cells.link} to="/$tenant/triggers/$id" params={{ tenant, id: row.id }}>
          {row.id}
        </Link>
        <span className={cells.sub}>{t.triggers.starts(row.workflow_id, row.deployment_id)}</span>
        <span className={`${cells.line} narrow-only`}>
          <Badge status={row.is_enabled ? 'enabled' : 'disabled'} isBare />
          <LastCall row={row} tenant={tenant} />
        </span>
      </span>
    ),
  },
  {
    id: 'scheme',
    name: t.triggers.scheme,
    width: 'minmax(140px, 1fr)',
    isWideOnly: true,
    cell: ({ scheme }) => t.triggers.schemes[scheme] ?? scheme,
  },
  {
    id: 'state',
    name: t.triggers.state,
    width: 'minmax(110px, 0.8fr)',
    isWideOnly: true,
    cell: (row) => <Badge status={row.is_enabled ? 'enabled' : 'disabled'} />,
  },
  {
    id: 'last',
    name: t.triggers.lastCall,
    width: 'minmax(180px, 1.2fr)',
    isWideOnly: true,
    cell: (row) => <LastCall row={row} tenant={tenant} />,
  },
  {
    id: 'owner',
    name: t.triggers.owner,
    width: 'minmax(90px, 0.8fr)',
    isWideOnly: true,
    cell: ({ created_by }) => created_by,
  },
];

function LastCall({ row, tenant }: { row: TriggerRow; tenant: string }) {
  if (!row.last_call_at) return <span className={cells.quiet}>{t.triggers.noCall}</span>;
  if (!row.last_execution_id) return <Time at={row.last_call_at} />;
  return (
    <Link className={cells.above} to="/$tenant/executions/$id" params={{ tenant, id: row.last_execution_id }}>
      <Time at={row.last_call_at} />
    </Link>
  );
}
