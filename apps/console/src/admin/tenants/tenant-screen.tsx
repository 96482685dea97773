/** One tenant: its users and groups with their roles, its limits and its current usage. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useApi, useMay, useTenant } from '../../api/api-context';
import { PEOPLE, type TenantDetail, tenantQuery } from '../../api/people';
import { SESSION_KEY } from '../../api/session';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { Screen } from '../../ui/screen';
import { Loaded } from '../../ui/states';
import { MembershipPanel } from '../membership-panel';
import { rolesByName, usersOfTenant } from '../memberships';
import { groupsOf, usersOf } from '../tenant-memberships';
import { QuotaPanel } from './quota-panel';

const ConfirmDialog = lazy(async () => ({
  default: (await import('../../ui/confirm-dialog')).ConfirmDialog,
}));

export function TenantScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { client } = useApi();
  const query = useQuery(tenantQuery(client, useTenant(), id));
  return <Loaded query={query}>{(shown) => <Shown key={id} shown={shown} />}</Loaded>;
}

function Shown({ shown }: { shown: TenantDetail }) {
  const tenant = useTenant();
  const may = useMay();
  const [isAsked, setAsked] = useState(false);
  const { name } = shown;
  return (
    <Screen
      name={name}
      above={
        <Link to="/$tenant/admin/tenants" params={{ tenant }}>
          {t.tenants.back}
        </Link>
      }
      side={may('tenant_delete') && <Button onClick={() => setAsked(true)}>{t.tenants.delete}</Button>}
    >
      {name !== tenant && (
        <p>
          <Link to="/$tenant/deployments" params={{ tenant: name }}>
            {t.tenants.open}
          </Link>
        </p>
      )}
      <QuotaPanel name={name} />
      <MembershipPanel
        words={t.tenants.users}
        rows={usersOfTenant(shown)}
        changes={usersOf(name)}
        link={(user) => (
          <Link to="/$tenant/admin/users/$id" params={{ tenant, id: user }}>
            {user}
          </Link>
        )}
      />
      <MembershipPanel
        words={t.tenants.groups}
        rows={rolesByName(shown.groups)}
        changes={groupsOf(name)}
        link={(group) => (
          <Link to="/$tenant/admin/groups/$id" params={{ tenant, id: group }}>
            {group}
          </Link>
        )}
      />
      {isAsked && (
        <Suspense fallback={null}>
          <DeleteTenant name={name} onClose={() => setAsked(false)} />
        </Suspense>
      )}
    </Screen>
  );
}

function DeleteTenant({ name, onClose }: { name: string; onClose: () => void }) {
  const tenant = useTenant();
  const navigate = useNavigate();
  const cache = useQueryClient();
  const remove = useChange(
    PEOPLE,
    async (client, ofTenant) => {
      await client.call('deleteTenant', { tenant: ofTenant, params: { name } });
      void cache.invalidateQueries({ queryKey: SESSION_KEY });
      await navigate({ to: '/$tenant/admin/tenants', params: { tenant } });
    },
    onClose,
  );
  return (
    <ConfirmDialog
      title={t.tenants.deleteTitle(name)}
      text={t.tenants.deleteText}
      action={t.tenants.delete}
      mutation={remove}
      typed={name}
      onClose={onClose}
    />
  );
}
