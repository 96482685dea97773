/** Roles, and the permissions of each role. */
import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useApi, useTenant } from '../../api/api-context';
import { type Authorization, authorizationQuery } from '../../api/manager';
import { t } from '../../text/text';
import { BarSelect } from '../../ui/field';
import { Panel } from '../../ui/panel';
import { Screen } from '../../ui/screen';
import { SearchBox } from '../../ui/search-box';
import { SimpleTable } from '../../ui/simple-table';
import { Empty, Loaded } from '../../ui/states';
import bar from '../../ui/toolbar.module.css';
import { useAddress } from '../../ui/use-address';
import styles from '../admin.module.css';
import type { RolesSearch } from '../admin-search';
import { permissionRows } from './role-matrix';

export function RolesScreen() {
  const { client } = useApi();
  const query = useQuery(authorizationQuery(client, useTenant()));
  return (
    <Screen name={t.roles.title}>
      <Loaded query={query}>{(authorization) => <Shown authorization={authorization} />}</Loaded>
    </Screen>
  );
}

function Shown({ authorization }: { authorization: Authorization }) {
  const { search, change } = useAddress<RolesSearch>();
  const setText = useCallback((text: string) => change({ permission: text || undefined }), [change]);
  const { roles } = authorization;
  const rows = permissionRows(authorization, search.permission, search.role);
  const names = t.roles;
  return (
    <div className={styles.stack}>
      <Panel>
        <SimpleTable
          label={names.title}
          rows={roles}
          keyOf={({ name }) => name}
          columns={[
            { name: names.choose, cell: ({ name }) => <strong>{name}</strong> },
            { name: t.eventList.filters.type, cell: ({ type }) => names.kinds[type] ?? type },
            { name: t.deployment.description, cell: ({ description }) => description ?? t.none },
          ]}
        />
      </Panel>
      <search className={bar.bar} aria-label={t.list.filters}>
        <SearchBox label={names.search} value={search.permission ?? ''} onChange={setText} />
        <BarSelect
          label={names.choose}
          value={search.role ?? ''}
          options={[['', names.all], ...roles.map(({ name }) => [name, name] as const)]}
          onChange={(role) => change({ role: role || undefined })}
        />
        <span className={bar.grow} />
        <span className={bar.count} role="status">
          {search.role ? names.ofRole(search.role, rows.length) : names.count(rows.length)}
        </span>
      </search>
      {rows.length === 0 ? (
        <Empty title={names.noMatch} />
      ) : (
        <SimpleTable
          label={names.permission}
          rows={rows}
          keyOf={({ permission }) => permission}
          columns={[
            { name: names.permission, cell: ({ permission }) => <code>{permission}</code> },
            { name: names.holders, cell: (row) => row.roles.join(', ') },
          ]}
        />
      )}
    </div>
  );
}
