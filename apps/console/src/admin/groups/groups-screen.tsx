/** Groups of users: members, tenants, and the name in a directory. */
import { Link } from '@tanstack/react-router';
import { lazy } from 'react';
import { useMay, useTenant } from '../../api/api-context';
import { type GroupRow, groupList } from '../../api/people';
import { t } from '../../text/text';
import { ListScreen } from '../../ui/list-screen';
import { OpensDialog } from '../../ui/opens-dialog';
import cells from '../../ui/row-cells.module.css';
import { Empty } from '../../ui/states';
import type { ListColumn } from '../../ui/virtual-list';
import { sizeOf } from '../memberships';

const NewGroupDialog = lazy(() => import('./new-group-dialog'));

export function GroupsScreen() {
  const may = useMay();
  const tenant = useTenant();
  return (
    <ListScreen
      name={t.groups.title}
      label={t.groups.title}
      list={groupList}
      columns={columns(tenant)}
      keyOf={({ name }) => name}
      count={t.groups.count}
      sort={BY_NAME}
      searchLabel={t.groups.search}
      empty={<Empty title={t.groups.empty} hint={t.groups.emptyHint} />}
      side={
        may('user_group_create') && (
          <OpensDialog text={t.groups.create}>{(close) => <NewGroupDialog onClose={close} />}</OpensDialog>
        )
      }
    />
  );
}

const BY_NAME = ['name'];

function columns(tenant: string): ListColumn<GroupRow>[] {
  const names = t.groups.columns;
  return [
    {
      id: 'name',
      name: names.name,
      width: 'minmax(150px, 2fr)',
      cell: (row) => (
        <span className={cells.main}>
          <Link className={cells.link} to="/$tenant/admin/groups/$id" params={{ tenant, id: row.name }}>
            {row.name}
          </Link>
          <span className={`${cells.sub} narrow-only`}>{t.users.count(sizeOf(row.users))}</span>
        </span>
      ),
    },
    { id: 'role', name: names.role, width: 'minmax(90px, 1fr)', isWideOnly: true, cell: ({ role }) => role },
    {
      id: 'users',
      name: names.users,
      width: '90px',
      isWideOnly: true,
      cell: ({ users }) => t.number(sizeOf(users)),
    },
    {
      id: 'tenants',
      name: names.tenants,
      width: '90px',
      isWideOnly: true,
      cell: ({ tenants }) => t.number(sizeOf(tenants)),
    },
    {
      id: 'ldap',
      name: names.ldap,
      width: 'minmax(140px, 2fr)',
      isWideOnly: true,
      cell: ({ ldap_dn }) => ldap_dn ?? t.none,
    },
  ];
}
