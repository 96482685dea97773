/** Configuration values of the manager, by scope. Users with the permission can change them. */
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useCallback, useState } from 'react';
import { useApi, useMay, useTenant } from '../../api/api-context';
import { type ConfigItem, configQuery } from '../../api/manager';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { BarSelect } from '../../ui/field';
import cells from '../../ui/row-cells.module.css';
import { Screen } from '../../ui/screen';
import { SearchBox } from '../../ui/search-box';
import { SimpleTable } from '../../ui/simple-table';
import { Empty, Loaded } from '../../ui/states';
import { Time } from '../../ui/time';
import bar from '../../ui/toolbar.module.css';
import { useAddress } from '../../ui/use-address';
import type { ConfigSearch } from '../admin-search';
import { chosenItems, valueText } from './config-value';

const ConfigDialog = lazy(() => import('./config-dialog'));

export function ConfigScreen() {
  const { client } = useApi();
  const query = useQuery(configQuery(client, useTenant()));
  return (
    <Screen name={t.config.title}>
      <Loaded query={query}>{(items) => <Shown items={items} />}</Loaded>
    </Screen>
  );
}

function Shown({ items }: { items: ConfigItem[] }) {
  const { search, change } = useAddress<ConfigSearch>();
  const [edited, setEdited] = useState<ConfigItem | null>(null);
  const setName = useCallback((name: string) => change({ name: name || undefined }), [change]);
  const scopes = [...new Set(items.map(({ scope }) => scope))].sort();
  const rows = chosenItems(items, search.scope, search.name);
  return (
    <>
      <search className={bar.bar} aria-label={t.list.filters}>
        <SearchBox label={t.config.search} value={search.name ?? ''} onChange={setName} />
        <BarSelect
          label={t.config.scope}
          value={search.scope ?? ''}
          options={[['', t.config.allScopes], ...scopes.map((scope) => [scope, scope] as const)]}
          onChange={(scope) => change({ scope: scope || undefined })}
        />
        <span className={bar.grow} />
        <span className={bar.count} role="status">
          {t.config.count(rows.length)}
        </span>
      </search>
      {rows.length === 0 ? <Empty title={t.config.noMatch} /> : <Items rows={rows} onEdit={setEdited} />}
      {edited && (
        <Suspense fallback={null}>
          <ConfigDialog item={edited} onClose={() => setEdited(null)} />
        </Suspense>
      )}
    </>
  );
}

function Items({ rows, onEdit }: { rows: ConfigItem[]; onEdit: (item: ConfigItem) => void }) {
  const may = useMay();
  const mayEdit = may('manager_config_put');
  const names = t.config;
  return (
    <SimpleTable<ConfigItem>
      label={names.title}
      rows={rows}
      keyOf={({ scope, name }) => `${scope}.${name}`}
      columns={[
        { name: names.scope, cell: ({ scope }) => <span className={cells.quiet}>{scope}</span> },
        { name: names.name, cell: ({ name }) => <code>{name}</code> },
        { name: names.value, cell: (item) => <Value item={item} /> },
        {
          name: names.changed,
          cell: ({ updated_at, updater_name }) =>
            updated_at ? (
              <>
                <Time at={updated_at} /> {updater_name}
              </>
            ) : (
              <span className={cells.quiet}>{names.usual}</span>
            ),
        },
        ...(mayEdit
          ? [{ name: names.actions, cell: (item: ConfigItem) => <Edit item={item} onEdit={onEdit} /> }]
          : []),
      ]}
    />
  );
}

/** Values for administrators only may be secrets: they stay hidden, so that a bystander cannot read them from the screen. */
function Value({ item: { value, admin_only } }: { item: ConfigItem }) {
  if (admin_only && value !== null && value !== '')
    return <span className={cells.quiet}>{t.config.hidden}</span>;
  const text = valueText(value);
  return text === '' ? <>{t.none}</> : <code>{text}</code>;
}

function Edit({ item, onEdit }: { item: ConfigItem; onEdit: (item: ConfigItem) => void }) {
  if (!item.is_editable)
    return (
      <span className={cells.quiet} title={t.config.fixedHint}>
        {t.config.fixed}
      </span>
    );
  return (
    <Button aria-label={t.config.editName(item.name)} onClick={() => onEdit(item)}>
      {t.config.edit}
    </Button>
  );
}
