/** A live list of executions, with its filters in the address. */
import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { executionCountsQuery, executionPageQuery } from '../api/executions';
import { usePollMs } from '../live/live-badge';
import { filtersOf } from '../search-params';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { Chips } from '../ui/chips';
import { Check } from '../ui/field';
import { NoMatch } from '../ui/list-screen';
import { Screen } from '../ui/screen';
import { SearchBox } from '../ui/search-box';
import { Empty } from '../ui/states';
import bar from '../ui/toolbar.module.css';
import { useAddress } from '../ui/use-address';
import { VirtualList } from '../ui/virtual-list';
import { SavedViews } from '../views/saved-views';
import { executionColumns } from './execution-columns';
import {
  EXECUTION_STATUSES,
  type ExecutionListSearch,
  executionCountsOf,
  executionPageOf,
} from './execution-list-search';

export function ExecutionsScreen() {
  const { client } = useApi();
  const tenant = useTenant();
  const { search, change, clear } = useAddress<ExecutionListSearch>();
  const pollMs = usePollMs();
  const [total, setTotal] = useState<number>();
  const setDeployment = useCallback((text: string) => change({ deployment_id: text || undefined }), [change]);
  const setWorkflow = useCallback((text: string) => change({ workflow_id: text || undefined }), [change]);
  const { data: counts } = useQuery({
    ...executionCountsQuery(client, tenant, executionCountsOf(search)),
    placeholderData: (before) => before,
    refetchInterval: pollMs,
  });
  const query = useMemo(() => executionPageOf(search), [search]);
  const names = t.executions.filters;
  const statuses = EXECUTION_STATUSES.filter(
    (status, i) =>
      i < 3 ||
      status === 'terminated' ||
      status === 'cancelled' ||
      (counts?.[status] ?? 0) > 0 ||
      search.status?.includes(status),
  );
  const filters = filtersOf(search);
  return (
    <Screen name={t.executions.title} isFilling>
      <div className={bar.bar}>
        <Chips
          label={names.status}
          statuses={statuses}
          counts={counts}
          chosen={search.status ?? []}
          onChange={(status) => change({ status })}
        />
        <span className={bar.grow} />
        <span className={bar.count} role="status">
          {total === undefined ? '' : t.executions.count(total)}
        </span>
      </div>
      <search className={bar.bar} aria-label={t.deployments.filters.label}>
        <SearchBox label={names.deployment} value={search.deployment_id ?? ''} onChange={setDeployment} />
        <SearchBox label={names.workflow} value={search.workflow_id ?? ''} onChange={setWorkflow} />
        <Check
          label={names.system}
          isChecked={search._include_system_workflows === true}
          onChange={(isOn) => change({ _include_system_workflows: isOn || undefined })}
        />
        {filters.length > 0 && (
          <Button look="quiet" onClick={clear}>
            {t.clearFilters}
          </Button>
        )}
        <SavedViews />
      </search>
      <VirtualList
        label={t.executions.table}
        columns={executionColumns(tenant)}
        page={(offset) => ({
          ...executionPageQuery(client, tenant, query, offset),
          refetchInterval: pollMs,
        })}
        keyOf={({ id }) => id ?? ''}
        resetKey={JSON.stringify([tenant, query])}
        onTotal={setTotal}
        empty={
          filters.length > 0 ? (
            <NoMatch title={t.executions.noMatch} filters={filters} onClear={clear} />
          ) : (
            <Empty title={t.executions.empty} hint={t.executions.emptyHint} />
          )
        }
      />
    </Screen>
  );
}
