/** The oldest stuck executions, with the reasons. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { useApi, useTenant } from '../api/api-context';
import { type ExecutionRow, whyQuery } from '../api/executions';
import { oldestRunningQuery } from '../api/overview';
import { usePollMs } from '../live/live-badge';
import { t } from '../text/text';
import { Panel } from '../ui/panel';
import { Loaded, Loading } from '../ui/states';
import { Time, useNow } from '../ui/time';
import { ExecutionHead } from './failures';
import styles from './overview.module.css';
import { stuckReason } from './stuck';

export function StuckList() {
  const { client } = useApi();
  const query = useQuery({ ...oldestRunningQuery(client, useTenant()), refetchInterval: usePollMs() });
  return (
    <Panel title={t.overview.stuck}>
      <Loaded query={query}>{(rows) => <Asked rows={rows} />}</Loaded>
    </Panel>
  );
}

function Asked({ rows }: { rows: ExecutionRow[] }) {
  const { client } = useApi();
  const tenant = useTenant();
  // A long running operation becomes stuck by time alone, without a change of its execution.
  const nowMs = useNow(rows.length > 0);
  const answers = useQueries({ queries: rows.map(({ id }) => whyQuery(client, tenant, id ?? '')) });
  const stuck = rows.flatMap((row, i) => {
    const reason = stuckReason(answers[i]?.data?.waiting_for ?? [], nowMs);
    return reason ? [{ row, reason }] : [];
  });
  if (stuck.length === 0 && answers.some(({ isPending }) => isPending)) return <Loading />;
  if (stuck.length === 0) return <p className={styles.quiet}>{t.overview.noStuck}</p>;
  return (
    <ul className={styles.rows}>
      {stuck.map(({ row, reason }) => (
        <li key={row.id}>
          <ExecutionHead row={row} at={row.created_at} />
          <span className={styles.quiet}>
            <strong>{t.why.kinds[reason.kind] ?? reason.kind}</strong>: {reason.message}
            {reason.since && (
              <>
                {' '}
                {t.overview.since} <Time at={reason.since} />
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
