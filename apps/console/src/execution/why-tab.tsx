/** Explains why an execution waits, or why it failed. */
import { afterDelay, systemClock } from '@baton/kernel';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { WaitReason } from '../api/answers';
import { useApi, useTenant } from '../api/api-context';
import { type ExecutionDetail, graphQuery, hasEnded, whyQuery } from '../api/executions';
import { usePollMs } from '../live/live-badge';
import { durationText } from '../text/format';
import { t } from '../text/text';
import { JsonView } from '../ui/json-view';
import { Panel } from '../ui/panel';
import cells from '../ui/row-cells.module.css';
import { SimpleTable } from '../ui/simple-table';
import { Empty, Loaded } from '../ui/states';
import { Time, useNow } from '../ui/time';
import { nextLookMs, waitsUntilMs } from './next-look';
import { type TaskRow, taskRows } from './task-rows';
import styles from './why-tab.module.css';

const MOST_ROWS = 100;

export default function WhyTab({ execution }: { execution: ExecutionDetail }) {
  const id = execution.id ?? '';
  const isOver = hasEnded(execution.status);
  return isOver ? <Ended execution={execution} id={id} /> : <Waiting id={id} />;
}

/** Reloaded by the stream of changes, and at the next deadline: a deadline may pass without a message on the stream. */
function Waiting({ id }: { id: string }) {
  const { client } = useApi();
  const query = useQuery({ ...whyQuery(client, useTenant(), id), refetchInterval: usePollMs() });
  const { data, dataUpdatedAt, refetch } = query;
  useEffect(() => {
    const waitMs = nextLookMs(data?.waiting_for ?? [], Math.max(dataUpdatedAt, systemClock.now()));
    return waitMs === null ? undefined : afterDelay(waitMs, () => void refetch());
  }, [data, dataUpdatedAt, refetch]);
  return (
    <Loaded query={query}>
      {({ waiting_for }) =>
        waiting_for.length === 0 ? (
          <Empty title={t.why.nothing} hint={t.why.nothingHint} />
        ) : (
          <section aria-label={t.why.waiting}>
            <ul className={styles.reasons}>
              {waiting_for.map((reason) => (
                <Reason key={`${reason.kind} ${reason.message}`} reason={reason} />
              ))}
            </ul>
          </section>
        )
      }
    </Loaded>
  );
}

function Reason({ reason }: { reason: WaitReason }) {
  const { kind, message, since, details } = reason;
  const untilMs = waitsUntilMs(reason);
  return (
    <li className={styles.reason}>
      <h2>{t.why.kinds[kind] ?? kind}</h2>
      <p>{message}</p>
      <AgentLink details={details} />
      <p className={cells.quiet}>
        {since && (
          <>
            {t.why.since} <Time at={since} />{' '}
          </>
        )}
        {untilMs !== null && (
          <>
            {t.why.until} <Time at={reason.until} /> <Left untilMs={untilMs} />
          </>
        )}
      </p>
      {Object.keys(details).length > 0 && <JsonView value={details} />}
    </li>
  );
}

/** The agent that an operation waits for. */
function AgentLink({ details: { agent } }: Pick<WaitReason, 'details'>) {
  const tenant = useTenant();
  if (typeof agent !== 'string') return null;
  return (
    <p>
      <Link to="/$tenant/admin/agents/$id" params={{ tenant, id: agent }}>
        {t.why.agent(agent)}
      </Link>
    </p>
  );
}

/** Countdown of the remaining time. */
function Left({ untilMs }: { untilMs: number }) {
  const nowMs = useNow(true);
  const leftMs = untilMs - nowMs;
  return leftMs > 0 ? t.why.left(durationText(Math.ceil(leftMs / 1000) * 1000)) : null;
}

function Ended({ execution, id }: { execution: ExecutionDetail; id: string }) {
  const { client } = useApi();
  const query = useQuery({ ...graphQuery(client, useTenant(), id), enabled: execution.status === 'failed' });
  if (execution.status !== 'failed') return <Empty title={t.why.ended} hint={execution.error || undefined} />;
  return (
    <Loaded query={query}>
      {(graph) => <Failed rows={taskRows(graph)} error={execution.error ?? ''} />}
    </Loaded>
  );
}

/** All failed tasks, the first failure on top, and the tasks that were not reached because of them. */
function Failed({ rows, error }: { rows: TaskRow[]; error: string }) {
  const failed = rows
    .filter(({ state, isOperation }) => state === 'failed' && isOperation)
    .sort((a, b) => (a.endMs ?? 0) - (b.endMs ?? 0));
  const left = rows.filter(
    ({ state, isOperation }) => isOperation && (state === 'pending' || state === 'planned'),
  );
  if (failed.length === 0)
    return (
      <Panel title={t.execution.failure}>
        <pre className={styles.error}>{error}</pre>
      </Panel>
    );
  return (
    <>
      <SimpleTable
        label={t.execution.failure}
        rows={failed.slice(0, MOST_ROWS)}
        keyOf={(row) => row.id}
        columns={[
          { name: t.gantt.task, cell: (row) => <strong>{row.name}</strong> },
          { name: t.gantt.instance, cell: (row) => row.about },
          {
            name: t.why.failedAt,
            cell: (row) => <Time at={row.endMs === null ? null : new Date(row.endMs).toISOString()} />,
          },
          { name: t.gantt.error, cell: (row) => <span className={cells.bad}>{row.error ?? error}</span> },
        ]}
      />
      {left.length > 0 && <p className={cells.quiet}>{t.why.notReached(left.length)}</p>}
    </>
  );
}
