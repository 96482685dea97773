/** Number of deployments and executions per status. Each number links to the filtered list. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { deploymentCountsQuery } from '../api/deployments';
import { executionCountsQuery } from '../api/executions';
import { STATUSES } from '../deployments/deployment-search';
import { EXECUTION_STATUSES } from '../executions/execution-list-search';
import { usePollMs } from '../live/live-badge';
import { statusText, t } from '../text/text';
import { Panel } from '../ui/panel';
import { Loaded } from '../ui/states';
import { toneOf } from '../ui/tone';
import styles from './overview.module.css';

/** Shown even when zero: "nothing failed" is useful information. */
const ALWAYS = new Set(['failed', 'started', 'queued']);

export function DeploymentCounts() {
  const { client } = useApi();
  const tenant = useTenant();
  const query = useQuery({ ...deploymentCountsQuery(client, tenant, {}), refetchInterval: usePollMs() });
  return (
    <Panel
      title={t.overview.deployments}
      side={
        <Link to="/$tenant/deployments" params={{ tenant }}>
          {t.overview.allDeployments}
        </Link>
      }
    >
      <Loaded query={query}>
        {(counts) => (
          <Tiles statuses={STATUSES} counts={counts}>
            {(status, tile) => (
              <Link
                to="/$tenant/deployments"
                params={{ tenant }}
                search={{ deployment_status: [status] }}
                {...tile}
              />
            )}
          </Tiles>
        )}
      </Loaded>
    </Panel>
  );
}

export function ExecutionCounts() {
  const { client } = useApi();
  const tenant = useTenant();
  const query = useQuery({ ...executionCountsQuery(client, tenant, {}), refetchInterval: usePollMs() });
  return (
    <Panel
      title={t.overview.executions}
      side={
        <Link to="/$tenant/executions" params={{ tenant }}>
          {t.overview.allExecutions}
        </Link>
      }
    >
      <Loaded query={query}>
        {(counts) => (
          <Tiles
            statuses={EXECUTION_STATUSES.filter((status) => ALWAYS.has(status) || counts[status])}
            counts={counts}
          >
            {(status, tile) => (
              <Link to="/$tenant/executions" params={{ tenant }} search={{ status: [status] }} {...tile} />
            )}
          </Tiles>
        )}
      </Loaded>
    </Panel>
  );
}

/** Properties that all tiles share. */
interface Tile {
  className: string | undefined;
  'data-tone': string;
  children: ReactNode;
}

/** One tile per status, with its number. `children` renders the link of a tile. */
function Tiles<Status extends string>({
  statuses,
  counts,
  children,
}: {
  statuses: readonly Status[];
  counts: Readonly<Record<string, number>>;
  children: (status: Status, tile: Tile) => ReactNode;
}) {
  return (
    <div className={styles.tiles}>
      {statuses.map((status) => (
        <Fragment key={status}>
          {children(status, {
            className: styles.tile,
            'data-tone': toneOf(status),
            children: (
              <>
                <strong>{t.number(counts[status] ?? 0)}</strong>
                <span>{statusText(status)}</span>
              </>
            ),
          })}
        </Fragment>
      ))}
    </div>
  );
}
