/** Events and log lines of all executions of the deployment, newest first. */
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { type DeploymentEvent, deploymentEventsQuery } from '../api/deployment-events';
import { eventColumns } from '../events/event-columns';
import { eventKey } from '../events/event-key';
import { type EventSearch, eventQueryOf } from '../events/event-search';
import { LEVELS } from '../execution/execution-search';
import { usePollMs } from '../live/live-badge';
import { filtersOf } from '../search-params';
import { t } from '../text/text';
import { BarSelect, Check } from '../ui/field';
import { NoMatch } from '../ui/list-screen';
import cells from '../ui/row-cells.module.css';
import { SearchBox } from '../ui/search-box';
import { Empty } from '../ui/states';
import bar from '../ui/toolbar.module.css';
import { useAddress } from '../ui/use-address';
import { type ListColumn, VirtualList } from '../ui/virtual-list';
import styles from './events-tab.module.css';

const EventDialog = lazy(() => import('../events/event-dialog'));

export default function EventsTab({ id }: { id: string }) {
  const { client } = useApi();
  const tenant = useTenant();
  const pollMs = usePollMs();
  const { search, change, clear } = useAddress<EventSearch>();
  const [total, setTotal] = useState<number>();
  const { message, level, failed, event } = search;
  const query = { ...eventQueryOf({ message, level, failed, deployment_id: id }), _sort: ['-timestamp'] };
  const set: object = { message, level, failed };
  const filters = filtersOf(set);
  return (
    <div className={styles.events}>
      <EventBar total={total} />
      <VirtualList
        label={t.eventList.title}
        columns={columnsFor(tenant)}
        page={(offset) => ({
          ...deploymentEventsQuery(client, tenant, id, query, offset),
          refetchInterval: pollMs,
        })}
        keyOf={eventKey}
        resetKey={JSON.stringify([id, query])}
        onTotal={setTotal}
        empty={
          filters.length > 0 ? (
            <NoMatch filters={filters} onClear={clear} />
          ) : (
            <Empty title={t.events.empty} hint={t.eventList.emptyHint} />
          )
        }
      />
      {event && (
        <Suspense fallback={null}>
          <EventDialog eventKey={event} onClose={() => change({ event: undefined })} />
        </Suspense>
      )}
    </div>
  );
}

/** Replaces the column of the deployment, which is always the same here, by the execution of the event. */
const columnsFor = (tenant: string): ListColumn<DeploymentEvent>[] => [
  ...(eventColumns(tenant).filter(({ id }) => id !== 'deployment') as ListColumn<DeploymentEvent>[]),
  {
    id: 'execution',
    name: t.eventList.facts.execution,
    width: 'minmax(110px, 1fr)',
    isWideOnly: true,
    cell: (row) =>
      row.execution_id ? (
        <Link
          className={`${cells.above} ${cells.cut}`}
          to="/$tenant/executions/$id/$tab"
          params={{ tenant, id: row.execution_id, tab: 'log' }}
        >
          {row.workflow_id ?? row.execution_id}
        </Link>
      ) : (
        <span className={cells.quiet}>{t.none}</span>
      ),
  },
];

function EventBar({ total }: { total: number | undefined }) {
  const { search, change } = useAddress<EventSearch>();
  const setMessage = useCallback((text: string) => change({ message: text || undefined }), [change]);
  return (
    <search className={bar.bar} aria-label={t.list.filters}>
      <SearchBox label={t.log.search} value={search.message ?? ''} onChange={setMessage} />
      <Check
        label={t.log.failedOnly}
        isChecked={search.failed === true}
        onChange={(isOn) => change({ failed: isOn || undefined })}
      />
      <BarSelect
        label={t.log.level}
        value={search.level ?? ''}
        options={[['', t.log.levels.all!], ...LEVELS.map((one) => [one, t.log.levels[one]!] as const)]}
        onChange={(level) => change({ level: LEVELS.find((one) => one === level) })}
      />
      <span className={bar.grow} />
      <span className={bar.count} role="status">
        {total === undefined ? '' : t.eventList.count(total)}
      </span>
    </search>
  );
}
