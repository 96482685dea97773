/** Schedules: the next execution of each, and the result of the last one. */
import { Link } from '@tanstack/react-router';
import { lazy } from 'react';
import { useTenant } from '../api/api-context';
import { choicesOf, textOf } from '../search-params';
import { t } from '../text/text';
import { Badge } from '../ui/badge';
import { CreatingList } from '../ui/creating-list';
import { BarSelect } from '../ui/field';
import cells from '../ui/row-cells.module.css';
import { Time, TimeLeft } from '../ui/time';
import { useAddress } from '../ui/use-address';
import type { ListColumn } from '../ui/virtual-list';
import { ruleText } from './schedule-entry';
import type { ScheduleListSearch } from './schedule-search';
import { type ScheduleRow, scheduleList } from './schedules';

const ScheduleForm = lazy(() => import('./schedule-form'));

/** Next occurrences first; finished schedules last. */
const SORT = ['next_occurrence', 'deployment_id', 'id'];

export function SchedulesScreen() {
  const tenant = useTenant();
  const { search, change } = useAddress<ScheduleListSearch>();
  return (
    <CreatingList
      name={t.schedules.title}
      label={t.schedules.title}
      list={scheduleList}
      columns={columnsFor(tenant)}
      keyOf={({ deployment_id, id }) => `${deployment_id} ${id}`}
      count={t.schedules.count}
      sort={SORT}
      searchLabel={t.schedules.search}
      filters={
        <BarSelect
          label={t.schedules.isEnabled}
          value={search.enabled?.[0] ?? ''}
          options={[
            ['', `${t.schedules.isEnabled}: ${t.all}`],
            ['true', t.schedules.enabled],
            ['false', t.schedules.disabled],
          ]}
          onChange={(value) => change({ enabled: choicesOf(value, ['true', 'false']) })}
        />
      }
      permission="execution_schedule_create"
      create={t.schedules.create}
      empty={{ title: t.schedules.empty, hint: t.schedules.emptyHint }}
      form={(close) => (
        <ScheduleForm schedule={null} deploymentId={textOf(search.deployment_id) ?? ''} onClose={close} />
      )}
    />
  );
}

const columnsFor = (tenant: string): ListColumn<ScheduleRow>[] => [
  {
    id: 'id',
    name: t.schedules.id,
    width: 'minmax(160px, 1.6fr)',
    cell: (row) => (
      <span className={cells.main}>
        <Link
          className={cells.link}
          to="/$tenant/schedules/$deployment/$id"
          params={{ tenant, deployment: row.deployment_id, id: row.id }}
        >
          {row.id}
        </Link>
        <span className={cells.sub}>
          {row.workflow_id} · {ruleText(row.rule)}
        </span>
        <span className={`${cells.line} narrow-only`}>
          <NextCell row={row} />
          {row.latest_skip && <Badge status={row.latest_skip.outcome} isBare />}
        </span>
      </span>
    ),
  },
  {
    id: 'deployment',
    name: t.schedules.deployment,
    width: 'minmax(120px, 1.2fr)',
    isWideOnly: true,
    cell: (row) => (
      <Link className={cells.above} to="/$tenant/deployments/$id" params={{ tenant, id: row.deployment_id }}>
        {row.deployment_id}
      </Link>
    ),
  },
  {
    id: 'next',
    name: t.schedules.next,
    width: 'minmax(265px, 1.7fr)',
    isWideOnly: true,
    cell: (row) => <NextCell row={row} />,
  },
  {
    id: 'last',
    name: t.schedules.last,
    width: 'minmax(130px, 1fr)',
    isWideOnly: true,
    cell: (row) => <LastCell row={row} tenant={tenant} />,
  },
  {
    id: 'skip',
    name: t.schedules.lastSkip,
    width: 'minmax(170px, 1.6fr)',
    isWideOnly: true,
    cell: (row) => <SkipCell row={row} />,
  },
  {
    id: 'enabled',
    name: t.schedules.isEnabled,
    width: 'minmax(110px, 0.7fr)',
    isWideOnly: true,
    cell: (row) => <Badge status={row.enabled ? 'enabled' : 'disabled'} />,
  },
];

function NextCell({ row }: { row: ScheduleRow }) {
  if (!row.enabled) return <span className={cells.quiet}>{t.schedules.disabled}</span>;
  if (!row.next_occurrence) return <span className={cells.quiet}>{t.schedules.noNext}</span>;
  return <TimeLeft at={row.next_occurrence} />;
}

function SkipCell({ row }: { row: ScheduleRow }) {
  if (!row.latest_skip) return <span className={cells.quiet}>{t.none}</span>;
  const { occurrence, outcome, reason } = row.latest_skip;
  return (
    <span className={cells.main} title={reason}>
      <span className={cells.pair}>
        <Badge status={outcome} isBare />
        <span className={`${cells.cut} ${cells.quiet}`}>{reason}</span>
      </span>
      <span className={cells.sub}>
        <Time at={occurrence} />
      </span>
    </span>
  );
}

function LastCell({ row, tenant }: { row: ScheduleRow; tenant: string }) {
  if (!row.latest_execution) return <span className={cells.quiet}>{t.schedules.noLast}</span>;
  return (
    <Link className={cells.above} to="/$tenant/executions/$id" params={{ tenant, id: row.latest_execution }}>
      <Badge status={row.latest_execution_status} isBare />
    </Link>
  );
}
