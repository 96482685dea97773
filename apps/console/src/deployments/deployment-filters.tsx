import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { blueprintNamesQuery } from '../api/deployments';
import { useQuiet } from '../api/use-quiet';
import { StoredFilter } from '../resources/filters/stored-filter';
import { statusText, t } from '../text/text';
import { Button } from '../ui/button';
import { BarSelect } from '../ui/field';
import { SearchBox } from '../ui/search-box';
import bar from '../ui/toolbar.module.css';
import { SavedViews } from '../views/saved-views';
import { type DeploymentSearch, INSTALLATIONS, LATEST, SORTS, USUAL_SORT } from './deployment-search';

interface FiltersProps {
  search: DeploymentSearch;
  onChange: (next: Partial<DeploymentSearch>) => void;
  onClear: (() => void) | null;
}

export function DeploymentFilters({ search, onChange, onClear }: FiltersProps) {
  const { client } = useApi();
  const names = t.deployments.filters;
  const { data: blueprints = [] } = useQuery({
    ...blueprintNamesQuery(client, useTenant()),
    // Names to filter by come after the rows, which people wait for.
    enabled: useQuiet(),
  });
  const setText = useCallback((text: string) => onChange({ _search: text || undefined }), [onChange]);
  const chosen = search.blueprint_id;
  const known = chosen && !blueprints.includes(chosen) ? [chosen, ...blueprints] : blueprints;
  return (
    <search className={bar.bar} aria-label={names.label}>
      <SearchBox label={t.deployments.searchHint} value={search._search ?? ''} onChange={setText} />
      <BarSelect
        label={names.blueprint}
        value={chosen ?? ''}
        options={[['', names.anyBlueprint], ...known.map((name) => [name, name] as const)]}
        onChange={(value) => onChange({ blueprint_id: value || undefined })}
      />
      <BarSelect
        label={names.installed}
        value={search.installation_status?.[0] ?? ''}
        options={[
          ['', `${names.installed}: ${t.all}`],
          ...INSTALLATIONS.map((one) => [one, statusText(one)] as const),
        ]}
        onChange={(value) =>
          onChange({ installation_status: INSTALLATIONS.filter((one) => one === value) || undefined })
        }
      />
      <BarSelect
        label={names.latest}
        value={search.latest_execution_status?.[0] ?? ''}
        options={[['', `${names.latest}: ${t.all}`], ...LATEST.map((one) => [one, statusText(one)] as const)]}
        onChange={(value) => onChange({ latest_execution_status: LATEST.filter((one) => one === value) })}
      />
      <StoredFilter kind="deployments" />
      <BarSelect
        label={t.deployments.sort}
        value={search._sort ?? USUAL_SORT}
        options={SORTS.map((one) => [one, t.deployments.sorts[one] ?? one] as const)}
        onChange={(value) => onChange({ _sort: SORTS.find((one) => one === value && one !== USUAL_SORT) })}
      />
      {onClear && (
        <Button look="quiet" onClick={onClear}>
          {t.clearFilters}
        </Button>
      )}
      <SavedViews />
    </search>
  );
}
