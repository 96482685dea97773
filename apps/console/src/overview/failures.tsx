/** The newest failed executions, each with the first line of its error. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi, useTenant } from '../api/api-context';
import type { ExecutionRow } from '../api/executions';
import { newestFailuresQuery } from '../api/overview';
import { usePollMs } from '../live/live-badge';
import { t } from '../text/text';
import { Panel } from '../ui/panel';
import { Loaded } from '../ui/states';
import { Time } from '../ui/time';
import styles from './overview.module.css';
import { shortError } from './short-error';

export function Failures() {
  const { client } = useApi();
  const tenant = useTenant();
  const query = useQuery({ ...newestFailuresQuery(client, tenant), refetchInterval: usePollMs() });
  return (
    <Panel
      title={t.overview.failures}
      side={
        <Link to="/$tenant/executions" params={{ tenant }} search={{ status: ['failed'] }}>
          {t.overview.allFailures}
        </Link>
      }
    >
      <Loaded query={query}>
        {(rows) =>
          rows.length === 0 ? (
            <p className={styles.quiet}>{t.overview.noFailures}</p>
          ) : (
            <ul className={styles.rows}>
              {rows.map((row) => (
                <li key={row.id}>
                  <ExecutionHead row={row} at={row.ended_at ?? row.created_at} />
                  <span className={styles.error}>{shortError(row.error)}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

/** Workflow and deployment of an execution as a link, and a time. */
export function ExecutionHead({ row, at }: { row: ExecutionRow; at: string | null | undefined }) {
  const tenant = useTenant();
  return (
    <span className={styles.head}>
      <Link to="/$tenant/executions/$id" params={{ tenant, id: row.id ?? '' }}>
        {row.workflow_id} {t.execution.of}{' '}
        {row.deployment_display_name ?? row.deployment_id ?? t.overview.manager}
      </Link>
      <span>
        <Time at={at} />
      </span>
    </span>
  );
}
