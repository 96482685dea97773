/** Applies the stream of changes to the query cache: visible rows are patched; lists are reloaded when their length changes. */
import type { Client } from '@baton/client';
import { afterDelay } from '@baton/kernel';
import type { QueryClient } from '@tanstack/react-query';
import { blueprintKeys } from '../api/blueprints';
import { type DeploymentRow, deploymentKeys, readDeploymentRows } from '../api/deployments';
import { type ExecutionDetail, type ExecutionRow, executionKeys, hasEnded } from '../api/executions';
import type { Page } from '../api/pages';
import { PLUGINS } from '../resources/plugins/plugins';
import type { Change } from './fold-changes';
import { patchAll, patchDeployment, patchExecution } from './patch-rows';

/** Minimum time between two reloads of lists and counts. */
const LISTS_MS = 2_000;
/** Minimum time between two reloads of the parts of the shown resource. */
const PARTS_MS = 500;
/** If more rows than this change at once, the whole list is reloaded. */
const MOST_ROWS = 50;

/** Returns the function that applies each batch of changes of one tenant. */
export function createApplier(
  cache: QueryClient,
  client: Client,
): (tenant: string, changes: Change[]) => void {
  const refresh = createRefresher(cache);
  return (tenant, changes) => {
    patchExecutions(cache, tenant, changes);
    patchPages<DeploymentRow>(cache, deploymentKeys.pages(tenant), (row) => patchDeployment(row, changes));
    refreshOne(refresh, tenant, changes);
    refreshLists(refresh, tenant, changes);
    void rereadRows(cache, client, tenant, changes);
    if (changes.some(({ kind }) => kind === 'plugins')) refresh([PLUGINS, tenant], LISTS_MS);
  };
}

type Refresh = (key: readonly unknown[], intervalMs: number) => void;

/**
 * Invalidates queries, each key at most once per interval: immediately, and once more at the end of the interval when requested
 * meanwhile.
 */
export function createRefresher(cache: Pick<QueryClient, 'invalidateQueries'>, delay = afterDelay): Refresh {
  const waits = new Map<string, boolean>();
  const refresh: Refresh = (key, intervalMs) => {
    const name = JSON.stringify(key);
    if (waits.has(name)) {
      waits.set(name, true);
      return;
    }
    waits.set(name, false);
    delay(intervalMs, () => {
      const isAskedAgain = waits.get(name);
      waits.delete(name);
      if (isAskedAgain) refresh(key, intervalMs);
    });
    void cache.invalidateQueries({ queryKey: [...key] }, { cancelRefetch: false });
  };
  return refresh;
}

function patchExecutions(cache: QueryClient, tenant: string, changes: Change[]): void {
  patchPages<ExecutionRow>(cache, executionKeys.pages(tenant), (row) => patchExecution(row, changes));
  for (const change of changes) {
    if (change.kind !== 'executions') continue;
    const key = [...executionKeys.one(tenant, change.id), 'detail'];
    cache.setQueryData<ExecutionDetail>(key, (detail) => detail && patchExecution(detail, [change]));
  }
}

/** Patches the rows of cached pages. A page without changes keeps its object identity. */
function patchPages<Row>(cache: QueryClient, key: readonly unknown[], patch: (row: Row) => Row): void {
  cache.setQueriesData<Page<Row>>({ queryKey: key }, (page) => {
    if (!page) return page;
    const items = patchAll(page.items, patch);
    return items === page.items ? page : { ...page, items };
  });
}

function refreshOne(refresh: Refresh, tenant: string, changes: Change[]): void {
  for (const { kind, id, deployment_id } of changes) {
    if (kind === 'executions') {
      refresh(executionKeys.one(tenant, id), PARTS_MS);
      refresh([...executionKeys.whys(tenant), id], PARTS_MS);
    }
    if (kind === 'deployments') refresh(deploymentKeys.one(tenant, id), PARTS_MS);
    if (kind === 'blueprints') refresh(blueprintKeys.one(tenant, id), PARTS_MS);
    if (kind === 'executions' && deployment_id) refresh(deploymentKeys.one(tenant, deployment_id), PARTS_MS);
  }
}

function refreshLists(refresh: Refresh, tenant: string, changes: Change[]): void {
  const executions = changes.filter(({ kind }) => kind === 'executions');
  const deployments = changes.filter(({ kind }) => kind === 'deployments');
  const isCounted = deployments.some(({ operation }) => operation !== 'changed');
  // Rows of blueprints show the number of their deployments.
  if (isCounted || changes.some(({ kind }) => kind === 'blueprints'))
    refresh(blueprintKeys.lists(tenant), LISTS_MS);
  const changesLength = ({ operation, status }: Change) => operation !== 'changed' || hasEnded(status);
  // Every change of an execution also writes events.
  if (executions.length > 0) refresh(['events', tenant], LISTS_MS);
  // An ended execution may have created a snapshot.
  if (executions.some(({ status }) => hasEnded(status))) refresh(['snapshots', tenant], LISTS_MS);
  // The end of an execution may release others that wait for queues, quotas or locks.
  if (executions.some(changesLength)) refresh(executionKeys.whys(tenant), LISTS_MS);
  if (executions.some(changesLength)) refresh(executionKeys.lists(tenant), LISTS_MS);
  else if (executions.length > 0) refresh([...executionKeys.lists(tenant), 'counts'], LISTS_MS);
  if (isCounted || deployments.length > MOST_ROWS) refresh(deploymentKeys.lists(tenant), LISTS_MS);
  else if (executions.some(changesLength) || deployments.length > 0)
    refresh([...deploymentKeys.lists(tenant), 'counts'], LISTS_MS);
}

/** Reloads changed rows of deployments in one request. The page keeps its order until it is reloaded. */
async function rereadRows(
  cache: QueryClient,
  client: Client,
  tenant: string,
  changes: Change[],
): Promise<void> {
  const key = deploymentKeys.pages(tenant);
  const onScreen = new Set(
    cache
      .getQueriesData<Page<DeploymentRow>>({ queryKey: key, type: 'active' })
      .flatMap(([, page]) => page?.items.map(({ id }) => id) ?? []),
  );
  const changed = new Set(
    changes.flatMap(({ kind, id, operation, deployment_id, status }) =>
      kind === 'deployments' && operation === 'changed'
        ? id
        : hasEnded(status) && deployment_id
          ? deployment_id
          : [],
    ),
  );
  const ids = [...changed].filter((id) => onScreen.has(id)).slice(0, MOST_ROWS);
  if (ids.length === 0) return;
  try {
    const rows = new Map((await readDeploymentRows(client, tenant, ids)).map((row) => [row.id, row]));
    patchPages<DeploymentRow>(cache, key, (row) => rows.get(row.id) ?? row);
  } catch {
    // On failure the page is reloaded, which then shows the error.
    void cache.invalidateQueries({ queryKey: key });
  }
}
