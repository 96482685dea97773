/** One user: permissions and memberships, and the administrator's actions. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useApi, useTenant } from '../../api/api-context';
import { type UserDetail, userQuery } from '../../api/people';
import { t } from '../../text/text';
import { Badge } from '../../ui/badge';
import { Facts } from '../../ui/facts';
import { Panel } from '../../ui/panel';
import { Screen } from '../../ui/screen';
import { Loaded } from '../../ui/states';
import { Time } from '../../ui/time';
import { AccessPanel } from '../access-panel';
import { MembershipPanel } from '../membership-panel';
import { plainMembers, tenantsOfUser } from '../memberships';
import { groupsOfUser, tenantsOf } from '../tenant-memberships';
import { UserActions } from './user-actions';
import { userState } from './users-screen';

export function UserScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { client } = useApi();
  const query = useQuery(userQuery(client, useTenant(), id));
  return <Loaded query={query}>{(user) => <Shown key={id} user={user} />}</Loaded>;
}

function Shown({ user }: { user: UserDetail }) {
  const tenant = useTenant();
  const { username } = user;
  const groupRoles = Object.entries(user.group_system_roles).map(
    ([role, groups]) => `${role} (${groups.join(', ')})`,
  );
  return (
    <Screen
      name={username}
      title={
        <>
          {username} <Badge status={userState(user)} />
        </>
      }
      above={
        <Link to="/$tenant/admin/users" params={{ tenant }}>
          {t.users.back}
        </Link>
      }
      side={<UserActions user={user} />}
    >
      <Panel>
        <Facts
          facts={[
            [t.people.systemRole, user.role],
            [t.users.groupRoles, groupRoles.join(', ')],
            [t.users.created, <Time key="created" at={user.created_at} />],
            [t.users.firstLogin, user.first_login_at ? <Time at={user.first_login_at} /> : t.users.never],
            [
              t.users.columns.lastLogin,
              user.last_login_at ? <Time at={user.last_login_at} /> : t.users.never,
            ],
          ]}
        />
      </Panel>
      <MembershipPanel
        words={t.users.tenants}
        rows={tenantsOfUser(user)}
        changes={tenantsOf(username)}
        link={(name) => (
          <Link to="/$tenant/admin/tenants/$id" params={{ tenant, id: name }}>
            {name}
          </Link>
        )}
      />
      <MembershipPanel
        words={t.users.groups}
        rows={plainMembers(user.groups)}
        changes={groupsOfUser(username)}
        link={(name) => (
          <Link to="/$tenant/admin/groups/$id" params={{ tenant, id: name }}>
            {name}
          </Link>
        )}
      />
      <AccessPanel username={username} />
    </Screen>
  );
}
