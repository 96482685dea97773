/** One filter: its rules as text, its current results, and a link to the filtered list. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useApi, useTenant } from '../../api/api-context';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { Facts } from '../../ui/facts';
import { ownerFacts } from '../../ui/owner-facts';
import { Panel } from '../../ui/panel';
import { pathOf } from '../../ui/path-of';
import cells from '../../ui/row-cells.module.css';
import { Screen } from '../../ui/screen';
import { Loaded } from '../../ui/states';
import { useMayChange, VisibilityText } from '../../ui/visibility';
import { type FilterKind, kindOf, ruleText } from './filter-rules';
import { deleteFilter, FILTERS, type FilterRow, filterQuery } from './filters';
import { Found } from './found';
import styles from './rules-editor.module.css';

const FilterForm = lazy(() => import('./filter-form'));
const ConfirmDialog = lazy(async () => ({
  default: (await import('../../ui/confirm-dialog')).ConfirmDialog,
}));

export function FilterScreen() {
  const { kind: word, id } = useParams({ strict: false }) as { kind: string; id: string };
  const kind = kindOf(word);
  const { client } = useApi();
  const query = useQuery(filterQuery(client, useTenant(), kind, id));
  return <Loaded query={query}>{(filter) => <Shown kind={kind} filter={filter} />}</Loaded>;
}

function Shown({ kind, filter }: { kind: FilterKind; filter: FilterRow }) {
  const tenant = useTenant();
  return (
    <Screen
      name={filter.id}
      above={
        <Link to="/$tenant/filters/$kind" params={{ tenant, kind }}>
          {t.filters.tables[kind]}
        </Link>
      }
      side={<Actions kind={kind} filter={filter} />}
    >
      <Panel title={t.filters.rules}>
        <p>{t.filters.all[kind]}</p>
        <ul className={styles.rules}>
          {filter.value.map((rule) => (
            <li key={JSON.stringify(rule)}>{ruleText(rule)}</li>
          ))}
        </ul>
      </Panel>
      <Panel title={t.filters.now}>
        <Found kind={kind} rules={filter.value} />
        <Link className={cells.action} to={pathOf(tenant, kind)} search={{ _filter_id: filter.id } as never}>
          {t.filters.open[kind]}
        </Link>
      </Panel>
      <Panel>
        <Facts
          facts={[
            [t.visibility.label, <VisibilityText key="visibility" of={filter.visibility} />],
            ...ownerFacts(filter, tenant),
          ]}
        />
      </Panel>
    </Screen>
  );
}

function Actions({ kind, filter }: { kind: FilterKind; filter: FilterRow }) {
  const tenant = useTenant();
  const navigate = useNavigate();
  const mayChange = useMayChange();
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null);
  const close = (): void => setOpen(null);
  const remove = useChange(
    [FILTERS],
    (client) => deleteFilter(client, tenant, kind, filter.id),
    () => navigate({ to: '/$tenant/filters/$kind', params: { tenant, kind } }),
  );
  // System filters cannot be changed.
  if (filter.is_system_filter) return null;
  return (
    <>
      {mayChange('filter_update', filter) && (
        <Button onClick={() => setOpen('edit')}>{t.resource.edit}</Button>
      )}
      {mayChange('filter_delete', filter) && (
        <Button onClick={() => setOpen('delete')}>{t.resource.delete}</Button>
      )}
      <Suspense fallback={null}>
        {open === 'edit' && <FilterForm kind={kind} filter={filter} onClose={close} />}
        {open === 'delete' && (
          <ConfirmDialog
            title={t.filters.deleteOf(filter.id)}
            text={t.filters.deleteText[kind]}
            action={t.filters.deleteSubmit}
            mutation={remove}
            onClose={close}
          />
        )}
      </Suspense>
    </>
  );
}
