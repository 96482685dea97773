/** Deployments with drift, and schedules that fire next. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi, useTenant } from '../api/api-context';
import { mostDriftedQuery, nextSchedulesQuery } from '../api/overview';
import { usePollMs } from '../live/live-badge';
import { t } from '../text/text';
import { Panel } from '../ui/panel';
import { Loaded } from '../ui/states';
import { Time } from '../ui/time';
import styles from './overview.module.css';

export function Drifted() {
  const { client } = useApi();
  const tenant = useTenant();
  const query = useQuery({ ...mostDriftedQuery(client, tenant), refetchInterval: usePollMs() });
  return (
    <Panel
      title={t.overview.drifted}
      side={
        <Link to="/$tenant/deployments" params={{ tenant }} search={{ _sort: '-drifted_instances' }}>
          {t.overview.allDrifted}
        </Link>
      }
    >
      <Loaded query={query}>
        {(rows) =>
          rows.length === 0 ? (
            <p className={styles.quiet}>{t.overview.noDrifted}</p>
          ) : (
            <ul className={styles.rows}>
              {rows.map((row) => (
                <li key={row.id}>
                  <span className={styles.head}>
                    <Link to="/$tenant/deployments/$id/$tab" params={{ tenant, id: row.id, tab: 'drift' }}>
                      {row.display_name || row.id}
                    </Link>
                    <span>
                      {t.overview.driftedInstances(row.drifted_instances)}
                      {row.unavailable_instances > 0 &&
                        `, ${t.overview.unavailableInstances(row.unavailable_instances)}`}
                    </span>
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

export function NextSchedules() {
  const { client } = useApi();
  const tenant = useTenant();
  const query = useQuery(nextSchedulesQuery(client, tenant));
  return (
    <Panel
      title={t.overview.schedules}
      side={
        <Link to="/$tenant/schedules" params={{ tenant }}>
          {t.overview.allSchedules}
        </Link>
      }
    >
      <Loaded query={query}>
        {(rows) =>
          rows.length === 0 ? (
            <p className={styles.quiet}>{t.overview.noSchedules}</p>
          ) : (
            <ul className={styles.rows}>
              {rows.map((row) => (
                <li key={`${row.deployment_id} ${row.id}`}>
                  <span className={styles.head}>
                    <Link
                      to="/$tenant/schedules/$deployment/$id"
                      params={{ tenant, deployment: row.deployment_id ?? '', id: row.id ?? '' }}
                    >
                      {row.id}: {row.workflow_id} {t.execution.of} {row.deployment_id}
                    </Link>
                    <span>
                      <Time at={row.next_occurrence} />
                    </span>
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}
