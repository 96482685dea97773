/** Users who may sign in: state, roles, groups and tenants of each user. */
import { Link } from '@tanstack/react-router';
import { lazy } from 'react';
import { useMay, useTenant } from '../../api/api-context';
import { type UserRow, userList } from '../../api/people';
import { t } from '../../text/text';
import { Badge } from '../../ui/badge';
import { ListScreen } from '../../ui/list-screen';
import { OpensDialog } from '../../ui/opens-dialog';
import cells from '../../ui/row-cells.module.css';
import { Empty } from '../../ui/states';
import { Time } from '../../ui/time';
import type { ListColumn } from '../../ui/virtual-list';
import { sizeOf } from '../memberships';

const NewUserDialog = lazy(() => import('./new-user-dialog'));

export const userState = ({ active, is_locked }: Pick<UserRow, 'active' | 'is_locked'>): string =>
  is_locked ? 'locked' : active ? 'enabled' : 'disabled';

export function UsersScreen() {
  const may = useMay();
  const tenant = useTenant();
  return (
    <ListScreen
      name={t.users.title}
      label={t.users.title}
      list={userList}
      columns={columns(tenant)}
      keyOf={({ username }) => username}
      count={t.users.count}
      sort={BY_NAME}
      searchLabel={t.users.search}
      empty={<Empty title={t.users.empty} />}
      side={
        may('user_create') && (
          <OpensDialog text={t.users.create}>{(close) => <NewUserDialog onClose={close} />}</OpensDialog>
        )
      }
    />
  );
}

const BY_NAME = ['username'];

function columns(tenant: string): ListColumn<UserRow>[] {
  const names = t.users.columns;
  return [
    {
      id: 'name',
      name: names.name,
      width: 'minmax(150px, 2fr)',
      cell: (row) => (
        <span className={cells.main}>
          <Link className={cells.link} to="/$tenant/admin/users/$id" params={{ tenant, id: row.username }}>
            {row.username}
          </Link>
          <span className={`${cells.line} narrow-only`}>
            <Badge status={userState(row)} isBare />
            <span className={cells.quiet}>{row.role}</span>
          </span>
        </span>
      ),
    },
    { id: 'role', name: names.role, width: 'minmax(90px, 1fr)', isWideOnly: true, cell: ({ role }) => role },
    {
      id: 'state',
      name: names.state,
      width: 'minmax(110px, 1fr)',
      isWideOnly: true,
      cell: (row) => <Badge status={userState(row)} />,
    },
    {
      id: 'groups',
      name: names.groups,
      width: '80px',
      isWideOnly: true,
      cell: ({ groups }) => t.number(sizeOf(groups)),
    },
    {
      id: 'tenants',
      name: names.tenants,
      width: '80px',
      isWideOnly: true,
      cell: ({ tenants }) => t.number(sizeOf(tenants)),
    },
    {
      id: 'lastLogin',
      name: names.lastLogin,
      width: '170px',
      isWideOnly: true,
      cell: (row) => (row.last_login_at ? <Time at={row.last_login_at} /> : t.users.never),
    },
  ];
}
