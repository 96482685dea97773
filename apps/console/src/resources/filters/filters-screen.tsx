/** Stored filters, of deployments or of blueprints. */
import { Link, useParams } from '@tanstack/react-router';
import { lazy } from 'react';
import { useTenant } from '../../api/api-context';
import { t } from '../../text/text';
import { CreatingList } from '../../ui/creating-list';
import { timeColumn, visibilityColumn } from '../../ui/list-columns';
import { pathOf } from '../../ui/path-of';
import cells from '../../ui/row-cells.module.css';
import { Tabs } from '../../ui/tabs';
import type { ListColumn } from '../../ui/virtual-list';
import { FILTER_KINDS, type FilterKind, kindOf, ruleText } from './filter-rules';
import { FILTER_LISTS, type FilterRow } from './filters';

const FilterForm = lazy(() => import('./filter-form'));
const SORT = ['id'];

export function FiltersScreen() {
  const kind = kindOf((useParams({ strict: false }) as { kind?: string }).kind);
  const tenant = useTenant();
  return (
    <CreatingList
      key={kind}
      name={t.filters.title}
      label={t.filters.tables[kind]}
      list={FILTER_LISTS[kind]}
      columns={columnsFor(tenant, kind)}
      keyOf={({ tenant_name, id }) => `${tenant_name} ${id}`}
      count={t.filters.count}
      sort={SORT}
      searchLabel={t.filters.search}
      tabs={
        <Tabs
          label={t.filters.kinds}
          tabs={FILTER_KINDS.map((one) => ({
            to: pathOf(tenant, 'filters', one),
            text: t.filters.tabs[one],
            isCurrent: one === kind,
          }))}
        />
      }
      permission="filter_create"
      create={t.filters.create}
      empty={{ title: t.filters.empty, hint: t.filters.emptyHint }}
      form={(close) => <FilterForm kind={kind} filter={null} onClose={close} />}
    />
  );
}

const columnsFor = (tenant: string, kind: FilterKind): ListColumn<FilterRow>[] => [
  {
    id: 'id',
    name: t.filters.id,
    width: 'minmax(160px, 1.2fr)',
    cell: (row) => (
      <span className={cells.main}>
        <Link className={cells.link} to="/$tenant/filters/$kind/$id" params={{ tenant, kind, id: row.id }}>
          {row.id}
        </Link>
        {row.is_system_filter && <span className={cells.sub}>{t.filters.system}</span>}
        <span className={`${cells.sub} narrow-only`}>{rulesText(row)}</span>
      </span>
    ),
  },
  {
    id: 'rules',
    name: t.filters.rules,
    width: 'minmax(200px, 2.4fr)',
    isWideOnly: true,
    cell: (row) => <span title={rulesText(row)}>{rulesText(row)}</span>,
  },
  visibilityColumn('minmax(120px, 0.8fr)'),
  timeColumn('updated', t.resource.updated, (row) => row.updated_at),
];

const rulesText = ({ value }: FilterRow): string => value.map(ruleText).join(t.filters.and);
