/** One execution: whether it progresses, why not, and the failed tasks. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { type ExecutionDetail, executionQuery, graphQuery, hasEnded } from '../api/executions';
import { usePollMs } from '../live/live-badge';
import { t } from '../text/text';
import { Badge } from '../ui/badge';
import { Facts } from '../ui/facts';
import { JsonView } from '../ui/json-view';
import { Panel } from '../ui/panel';
import { Progress } from '../ui/progress';
import cells from '../ui/row-cells.module.css';
import { Screen } from '../ui/screen';
import { Loaded, Loading } from '../ui/states';
import { Tabs } from '../ui/tabs';
import { Time, Took } from '../ui/time';
import { useEarlyCode } from '../ui/use-early-code';
import { CancelNotice } from './cancel-notice';
import { ExecutionActions } from './execution-actions';
import { EXECUTION_TABS, firstTab } from './execution-search';
import { FailureCard } from './failure-card';

const TABS = {
  why: () => import('./why-tab'),
  gantt: () => import('./gantt-tab'),
  graph: () => import('./graph-tab'),
  topology: () => import('../replay/replay-tab'),
  log: () => import('./log-tab'),
};
const WhyTab = lazy(TABS.why);
const GanttTab = lazy(TABS.gantt);
const GraphTab = lazy(TABS.graph);
const ReplayTab = lazy(TABS.topology);
const LogTab = lazy(TABS.log);

export function ExecutionScreen() {
  const { id, tab } = useParams({ strict: false }) as { id: string; tab?: string };
  const { client } = useApi();
  const tenant = useTenant();
  const query = useQuery({ ...executionQuery(client, tenant, id), refetchInterval: usePollMs() });
  useEarly(id, tab);
  return <Loaded query={query}>{(execution) => <Shown key={id} execution={execution} id={id} />}</Loaded>;
}

/** Loads the code and the tasks of the current tab in parallel with the execution, not after it. */
function useEarly(id: string, tab: string | undefined): void {
  const { client } = useApi();
  const current = EXECUTION_TABS.find((one) => one === tab);
  useQuery({
    ...graphQuery(client, useTenant(), id),
    enabled: current === 'gantt' || current === 'graph',
    notifyOnChangeProps: [],
  });
  useEarlyCode(current && TABS[current]);
}

function Shown({ execution, id }: { execution: ExecutionDetail; id: string }) {
  const tenant = useTenant();
  const { tab } = useParams({ strict: false }) as { tab?: string };
  // Without a tab in the address, the status decides the first tab. The tab then stays even if the status changes.
  const [first] = useState(() => firstTab(execution.status));
  const current = EXECUTION_TABS.find((one) => one === tab) ?? first;
  return (
    <Screen
      name={[execution.workflow_id, execution.deployment_display_name].filter(Boolean).join(' ')}
      title={
        <>
          {execution.workflow_id} <Badge status={execution.status} />
          {execution.is_dry_run && <span className={cells.quiet}>{t.execution.dryRun}</span>}
        </>
      }
      above={
        <>
          <Link to="/$tenant/executions" params={{ tenant }}>
            {t.execution.back}
          </Link>
          {execution.deployment_id && (
            <>
              {' '}
              {t.execution.of}{' '}
              <Link to="/$tenant/deployments/$id" params={{ tenant, id: execution.deployment_id }}>
                {execution.deployment_display_name ?? execution.deployment_id}
              </Link>
            </>
          )}
        </>
      }
      side={<ExecutionActions execution={execution} id={id} />}
    >
      <CancelNotice execution={execution} />
      {execution.status === 'failed' && <FailureCard id={id} error={execution.error ?? ''} />}
      <Summary execution={execution} />
      <Tabs
        label={t.execution.tabsLabel}
        tabs={EXECUTION_TABS.map((one) => ({
          to: `/${encodeURIComponent(tenant)}/executions/${encodeURIComponent(id)}/${one}`,
          text: t.execution.tabs[one],
          isCurrent: one === current,
        }))}
      />
      <Suspense fallback={<Loading />}>
        {current === 'why' && <WhyTab execution={execution} />}
        {current === 'gantt' && <GanttTab id={id} />}
        {current === 'graph' && <GraphTab id={id} />}
        {current === 'topology' && <ReplayTab execution={execution} id={id} />}
        {current === 'log' && <LogTab id={id} />}
      </Suspense>
    </Screen>
  );
}

function Summary({ execution }: { execution: ExecutionDetail }) {
  const { total_operations: total, finished_operations: finished } = execution;
  const parameters = execution.parameters ?? {};
  return (
    <Panel>
      <Facts
        facts={[
          [
            t.execution.operations,
            total ? (
              <span className={cells.pair}>
                {t.of(finished ?? 0, total)}
                {!hasEnded(execution.status) && <Progress finished={finished ?? 0} total={total} />}
              </span>
            ) : null,
          ],
          [
            execution.ended_at ? t.execution.took : t.execution.runsFor,
            execution.started_at ? <Took from={execution.started_at} to={execution.ended_at} /> : null,
          ],
          [t.execution.created, <Time key="created" at={execution.created_at} />],
          [t.execution.started, execution.started_at ? <Time at={execution.started_at} /> : null],
          [t.execution.ended, execution.ended_at ? <Time at={execution.ended_at} /> : null],
          [t.execution.by, execution.created_by],
          [
            t.execution.parameters,
            Object.keys(parameters).length > 0 ? <JsonView value={parameters} /> : null,
          ],
        ]}
      />
    </Panel>
  );
}
