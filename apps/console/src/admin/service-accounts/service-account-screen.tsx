/** One service account: its roles, its tokens, and the jobs that may be it. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useApi, useMay, useTenant } from '../../api/api-context';
import { userQuery } from '../../api/people';
import { t } from '../../text/text';
import { Badge } from '../../ui/badge';
import { Facts } from '../../ui/facts';
import { Panel } from '../../ui/panel';
import { Permitted } from '../../ui/permitted';
import { Screen } from '../../ui/screen';
import { Loaded } from '../../ui/states';
import { Time } from '../../ui/time';
import { AccessPanel } from '../access-panel';
import { MembershipPanel } from '../membership-panel';
import { tenantsOfUser } from '../memberships';
import { tenantsOf } from '../tenant-memberships';
import { AccountActions } from './account-actions';
import { AccountTokens } from './account-tokens';
import { type ServiceAccount, serviceAccountQuery } from './service-accounts';
import { TrustPanel } from './trust-panel';

export function ServiceAccountScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  return (
    <Permitted permission="user_get">
      <Read key={id} name={id} />
    </Permitted>
  );
}

function Read({ name }: { name: string }) {
  const { client } = useApi();
  const query = useQuery(serviceAccountQuery(client, useTenant(), name));
  return <Loaded query={query}>{(account) => <Shown account={account} />}</Loaded>;
}

function Shown({ account }: { account: ServiceAccount }) {
  const tenant = useTenant();
  const may = useMay();
  const { name } = account;
  return (
    <Screen
      name={name}
      title={
        <>
          {name} <Badge status={account.active ? 'enabled' : 'disabled'} />
        </>
      }
      above={
        <Link to="/$tenant/admin/service-accounts" params={{ tenant }}>
          {t.serviceAccounts.title}
        </Link>
      }
      side={<AccountActions account={account} />}
    >
      <Panel>
        <Facts
          facts={[
            [t.serviceAccounts.description, account.description],
            [t.people.systemRole, account.role],
            [t.resource.owner, account.created_by],
            [t.resource.created, <Time key="created" at={account.created_at} />],
          ]}
        />
      </Panel>
      {may('manage_others_tokens') && <AccountTokens name={name} />}
      <TrustPanel account={account} />
      <Tenants name={name} />
      <AccessPanel username={name} />
    </Screen>
  );
}

/** As for every user: tenants, with roles given by hand and through groups. */
function Tenants({ name }: { name: string }) {
  const { client } = useApi();
  const tenant = useTenant();
  const query = useQuery(userQuery(client, tenant, name));
  return (
    <Loaded query={query}>
      {(user) => (
        <MembershipPanel
          words={t.serviceAccounts.tenants}
          rows={tenantsOfUser(user)}
          changes={tenantsOf(name)}
          link={(one) => (
            <Link to="/$tenant/admin/tenants/$id" params={{ tenant, id: one }}>
              {one}
            </Link>
          )}
        />
      )}
    </Loaded>
  );
}
