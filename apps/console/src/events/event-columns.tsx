import { Link } from '@tanstack/react-router';
import type { EventRow } from '../api/events';
import { lineTone } from '../execution/log-window';
import { t } from '../text/text';
import { timeColumn } from '../ui/list-columns';
import cells from '../ui/row-cells.module.css';
import { Time } from '../ui/time';
import type { ListColumn } from '../ui/virtual-list';
import { eventKey } from './event-key';
import styles from './events.module.css';

export function eventColumns(tenant: string): ListColumn<EventRow>[] {
  return [
    timeColumn('time', t.eventList.columns.time, (row) => row.timestamp),
    {
      id: 'kind',
      name: t.eventList.columns.kind,
      width: 'minmax(110px, 0.6fr)',
      isWideOnly: true,
      cell: (row) => <Kind row={row} />,
    },
    {
      id: 'message',
      name: t.eventList.columns.message,
      width: 'minmax(160px, 4fr)',
      cell: (row) => <MessageCell row={row} />,
    },
    {
      id: 'deployment',
      name: t.eventList.columns.deployment,
      width: 'minmax(110px, 1fr)',
      isWideOnly: true,
      cell: (row) => <DeploymentCell row={row} tenant={tenant} />,
    },
  ];
}

function Kind({ row }: { row: EventRow }) {
  return (
    <span className={styles.kind} data-tone={lineTone({ level: row.level, eventType: row.event_type })}>
      {row.level ?? row.event_type?.replaceAll('_', ' ') ?? t.none}
    </span>
  );
}

function MessageCell({ row }: { row: EventRow }) {
  return (
    <span className={cells.main}>
      <Link
        className={`${cells.link} ${styles.message}`}
        to="."
        search={((now: object) => ({ ...now, event: eventKey(row) })) as never}
        title={row.message}
      >
        {row.message || t.none}
      </Link>
      <span className={`${cells.line} narrow-only`}>
        <Time at={row.timestamp} isClock />
        <Kind row={row} />
        <span className={cells.quiet}>{row.deployment_display_name ?? row.deployment_id}</span>
      </span>
    </span>
  );
}

function DeploymentCell({ row, tenant }: { row: EventRow; tenant: string }) {
  if (!row.deployment_id) return <span className={cells.quiet}>{t.none}</span>;
  return (
    <Link className={cells.above} to="/$tenant/deployments/$id" params={{ tenant, id: row.deployment_id }}>
      {row.deployment_display_name ?? row.deployment_id}
    </Link>
  );
}
