/** Identity providers: where people of the organisation sign in. For system administrators. */
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
import { type IdentityProvider, identityProvidersQuery, MANAGES_PROVIDERS } from './identity-providers';

const ProviderForm = lazy(() => import('./provider-form'));

export function IdentityProvidersScreen() {
  return (
    <Permitted permission={MANAGES_PROVIDERS}>
      <Listed />
    </Permitted>
  );
}

function Listed() {
  const { client } = useApi();
  const may = useMay();
  const tenant = useTenant();
  const query = useQuery(identityProvidersQuery(client, tenant));
  return (
    <Screen
      name={t.identityProviders.title}
      side={
        may(MANAGES_PROVIDERS) && (
          <OpensDialog text={t.identityProviders.create}>
            {(close) => <ProviderForm provider={null} onClose={close} />}
          </OpensDialog>
        )
      }
    >
      <LoadedTable
        query={query}
        label={t.identityProviders.title}
        keyOf={({ id }) => id}
        columns={columns(tenant)}
        empty={<Empty title={t.identityProviders.empty} hint={t.identityProviders.emptyHint} />}
      />
    </Screen>
  );
}

const columns = (tenant: string): Column<IdentityProvider>[] => [
  {
    name: t.identityProviders.id,
    cell: ({ id }) => (
      <Link to="/$tenant/admin/identity-providers/$id" params={{ tenant, id }}>
        {id}
      </Link>
    ),
  },
  { name: t.identityProviders.name, cell: ({ name }) => name },
  { name: t.identityProviders.type, cell: ({ type }) => t.identityProviders.types[type] },
  {
    name: t.identityProviders.address,
    cell: (provider) => (provider.type === 'ldap' ? provider.urls.join(', ') : provider.issuer),
  },
  {
    name: t.identityProviders.state,
    cell: ({ is_enabled: isEnabled }) => <Badge status={isEnabled ? 'enabled' : 'disabled'} />,
  },
  { name: t.identityProviders.users, cell: ({ users }) => t.number(users), isNumber: true },
];
