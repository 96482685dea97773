/** Service accounts: users for programs, without a password. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy } from 'react';
import { useApi, useMay, useTenant } from '../../api/api-context';
import { t } from '../../text/text';
import { Badge } from '../../ui/badge';
import { LoadedTable } from '../../ui/loaded-table';
import { OpensDialog } from '../../ui/opens-dialog';
import { Permitted } from '../../ui/permitted';
import { Screen } from '../../ui/screen';
import type { Column } from '../../ui/simple-table';
import { Empty } from '../../ui/states';
import { Time } from '../../ui/time';
import { type ServiceAccount, serviceAccountsQuery } from './service-accounts';

const NewAccountDialog = lazy(() => import('./new-account-dialog'));

export function ServiceAccountsScreen() {
  return (
    <Permitted permission="user_list">
      <Listed />
    </Permitted>
  );
}

function Listed() {
  const { client } = useApi();
  const may = useMay();
  const tenant = useTenant();
  const query = useQuery(serviceAccountsQuery(client, tenant));
  return (
    <Screen
      name={t.serviceAccounts.title}
      side={
        may('user_create') && (
          <OpensDialog text={t.serviceAccounts.create}>
            {(close) => <NewAccountDialog onClose={close} />}
          </OpensDialog>
        )
      }
    >
      <LoadedTable
        query={query}
        label={t.serviceAccounts.title}
        keyOf={({ name }) => name}
        columns={columns(tenant)}
        empty={<Empty title={t.serviceAccounts.empty} hint={t.serviceAccounts.emptyHint} />}
      />
    </Screen>
  );
}

const columns = (tenant: string): Column<ServiceAccount>[] => [
  {
    name: t.serviceAccounts.name,
    cell: ({ name }) => (
      <Link to="/$tenant/admin/service-accounts/$id" params={{ tenant, id: name }}>
        {name}
      </Link>
    ),
  },
  { name: t.serviceAccounts.description, cell: ({ description }) => description || t.none },
  { name: t.people.systemRole, cell: ({ role }) => role },
  {
    name: t.serviceAccounts.state,
    cell: ({ active }) => <Badge status={active ? 'enabled' : 'disabled'} />,
  },
  {
    name: t.serviceAccounts.trust,
    cell: ({ trust }) => t.serviceAccounts.rules(trust.length),
  },
  { name: t.resource.created, cell: ({ created_at }) => <Time at={created_at} /> },
];
