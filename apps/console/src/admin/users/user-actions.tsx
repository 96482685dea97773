import { lazy, Suspense, useState } from 'react';
import { useMay } from '../../api/api-context';
import { PEOPLE, type UserDetail } from '../../api/people';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { InlineProblem } from '../../ui/states';
import type { UserQuestion } from './user-dialog';

const UserDialog = lazy(() => import('./user-dialog'));

/** Administrator's actions for a user. Actions that take access or data away ask for confirmation. */
export function UserActions({ user }: { user: UserDetail }) {
  const may = useMay();
  const [asked, setAsked] = useState<UserQuestion | null>(null);
  const { username } = user;
  const activate = useChange(PEOPLE, (client, tenant) =>
    client.call('activateUser', { tenant, params: { username }, body: { action: 'activate' } }),
  );
  const unlock = useChange(PEOPLE, (client, tenant) =>
    client.call('unlockUser', { tenant, params: { username }, body: {} }),
  );
  return (
    <>
      <InlineProblem error={activate.error ?? unlock.error} />
      {user.is_locked && may('user_unlock') && (
        <Button look="main" disabled={unlock.isPending} onClick={() => unlock.mutate()}>
          {t.users.unlock}
        </Button>
      )}
      {may('user_update') && (
        <>
          <Button onClick={() => setAsked('password')}>{t.users.setPassword}</Button>
          <Button onClick={() => setAsked('role')}>{t.users.setRole}</Button>
        </>
      )}
      {may('user_set_activated') &&
        (user.active ? (
          <Button onClick={() => setAsked('deactivate')}>{t.users.deactivate}</Button>
        ) : (
          <Button look="main" disabled={activate.isPending} onClick={() => activate.mutate()}>
            {t.users.activate}
          </Button>
        ))}
      {may('user_delete') && <Button onClick={() => setAsked('delete')}>{t.users.delete}</Button>}
      {asked && (
        <Suspense fallback={null}>
          <UserDialog user={user} asked={asked} onClose={() => setAsked(null)} />
        </Suspense>
      )}
    </>
  );
}
