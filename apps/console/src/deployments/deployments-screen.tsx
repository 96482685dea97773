/** A live list of deployments, with its filters in the address. Shows which are failing, drifted or in progress. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { lazy, Suspense, useCallback, useMemo, useState } from 'react';
import { useApi, useMay, useTenant } from '../api/api-context';
import { type DeploymentRow, deploymentCountsQuery, deploymentPageQuery } from '../api/deployments';
import { usePollMs } from '../live/live-badge';
import { filtersOf } from '../search-params';
import { t } from '../text/text';
import { buttonClass } from '../ui/button';
import { Chips } from '../ui/chips';
import { NoMatch } from '../ui/list-screen';
import { Screen } from '../ui/screen';
import { Empty } from '../ui/states';
import bar from '../ui/toolbar.module.css';
import { useAddress } from '../ui/use-address';
import { VirtualList } from '../ui/virtual-list';
import { deploymentColumns } from './deployment-columns';
import { DeploymentFilters } from './deployment-filters';
import { countQuery, type DeploymentSearch, pageQuery, STATUSES } from './deployment-search';
import { SelectionBar } from './selection-bar';

const BulkStart = lazy(() => import('./bulk-start'));

export function DeploymentsScreen() {
  const { client } = useApi();
  const tenant = useTenant();
  const { search, change, clear } = useAddress<DeploymentSearch>();
  const pollMs = usePollMs();
  const [total, setTotal] = useState<number>();
  const [selected, setSelected] = useState<ReadonlyMap<string, DeploymentRow>>(new Map());
  const [frozen, setFrozen] = useState<string[] | null>(null);
  const may = useMay();

  const { data: counts } = useQuery({
    ...deploymentCountsQuery(client, tenant, countQuery(search)),
    placeholderData: (before) => before,
    refetchInterval: pollMs,
  });
  const query = useMemo(() => pageQuery(search), [search]);
  const select = useCallback(
    (row: DeploymentRow, isOn: boolean): void =>
      setSelected((before) => {
        const next = new Map(before);
        if (isOn) next.set(row.id, row);
        else next.delete(row.id);
        return next;
      }),
    [],
  );
  const columns = deploymentColumns({
    tenant,
    selected,
    onSelect: may('execution_start') ? select : null,
  });
  const filters = filtersOf(search);
  return (
    <Screen name={t.deployments.title} isFilling side={<DeployLink />}>
      <div className={bar.bar}>
        <Chips
          label={t.deployments.filters.status}
          statuses={STATUSES}
          counts={counts}
          chosen={search.deployment_status ?? []}
          onChange={(deployment_status) => change({ deployment_status })}
        />
        <span className={bar.grow} />
        <span className={bar.count} role="status">
          {total === undefined ? '' : t.deployments.count(total)}
        </span>
      </div>
      <DeploymentFilters search={search} onChange={change} onClear={filters.length > 0 ? clear : null} />
      {selected.size > 0 && (
        <SelectionBar
          ids={[...selected.keys()]}
          onClear={() => setSelected(new Map())}
          onStart={() => setFrozen([...selected.keys()])}
        />
      )}
      <VirtualList
        label={t.deployments.table}
        columns={columns}
        page={(offset) => ({
          ...deploymentPageQuery(client, tenant, query, offset),
          refetchInterval: pollMs,
        })}
        keyOf={({ id }) => id}
        isSelected={({ id }) => selected.has(id)}
        resetKey={JSON.stringify([tenant, query])}
        onTotal={setTotal}
        empty={
          filters.length > 0 ? (
            <NoMatch title={t.deployments.noMatch} filters={filters} onClear={clear} />
          ) : (
            <Empty title={t.deployments.empty} hint={t.deployments.emptyHint} action={<DeployLink />} />
          )
        }
      />
      {frozen && (
        <Suspense fallback={null}>
          <BulkStart
            ids={frozen}
            onClose={() => setFrozen(null)}
            onDone={() => {
              setFrozen(null);
              setSelected(new Map());
            }}
          />
        </Suspense>
      )}
    </Screen>
  );
}

/** Shown to users who may create a deployment. */
function DeployLink() {
  const tenant = useTenant();
  const may = useMay();
  if (!may('deployment_create')) return null;
  return (
    <Link to="/$tenant/deployments/new" params={{ tenant }} className={buttonClass('main')}>
      <Plus size={15} aria-hidden="true" /> {t.deploy.open}
    </Link>
  );
}
