/** One group: its users, and its roles in tenants. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useApi, useMay, useTenant } from '../../api/api-context';
import { type GroupRow, groupQuery } from '../../api/people';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { Facts } from '../../ui/facts';
import { Panel } from '../../ui/panel';
import { Screen } from '../../ui/screen';
import { Loaded } from '../../ui/states';
import { MembershipPanel } from '../membership-panel';
import { plainMembers, rolesByName } from '../memberships';
import { membersOf, tenantsOfGroup } from '../tenant-memberships';

const GroupDialog = lazy(() => import('./group-dialog'));

export function GroupScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { client } = useApi();
  const query = useQuery(groupQuery(client, useTenant(), id));
  return <Loaded query={query}>{(group) => <Shown key={id} group={group} />}</Loaded>;
}

function Shown({ group }: { group: GroupRow }) {
  const tenant = useTenant();
  const { name } = group;
  return (
    <Screen
      name={name}
      above={
        <Link to="/$tenant/admin/groups" params={{ tenant }}>
          {t.groups.back}
        </Link>
      }
      side={<Actions group={group} />}
    >
      <Panel>
        <Facts
          facts={[
            [t.people.systemRole, group.role],
            [t.groups.columns.ldap, group.ldap_dn],
          ]}
        />
      </Panel>
      <MembershipPanel
        words={t.groups.users}
        rows={plainMembers(group.users)}
        changes={membersOf(name)}
        link={(user) => (
          <Link to="/$tenant/admin/users/$id" params={{ tenant, id: user }}>
            {user}
          </Link>
        )}
      />
      <MembershipPanel
        words={t.groups.tenants}
        rows={rolesByName(group.tenants)}
        changes={tenantsOfGroup(name)}
        link={(one) => (
          <Link to="/$tenant/admin/tenants/$id" params={{ tenant, id: one }}>
            {one}
          </Link>
        )}
      />
    </Screen>
  );
}

function Actions({ group }: { group: GroupRow }) {
  const may = useMay();
  const [asked, setAsked] = useState<'role' | 'delete' | null>(null);
  return (
    <>
      {may('user_group_update') && <Button onClick={() => setAsked('role')}>{t.groups.setRole}</Button>}
      {may('user_group_delete') && <Button onClick={() => setAsked('delete')}>{t.groups.delete}</Button>}
      {asked && (
        <Suspense fallback={null}>
          <GroupDialog group={group} asked={asked} onClose={() => setAsked(null)} />
        </Suspense>
      )}
    </>
  );
}
