import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useMay, useTenant } from '../../api/api-context';
import { PEOPLE } from '../../api/people';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { InlineProblem } from '../../ui/states';
import { adminWarning } from '../admin-warning';
import { deleteAccount, type ServiceAccount } from './service-accounts';

const RoleDialog = lazy(async () => ({ default: (await import('../role-dialog')).RoleDialog }));
const ConfirmDialog = lazy(async () => ({
  default: (await import('../../ui/confirm-dialog')).ConfirmDialog,
}));

/** Role, activity and deletion: a service account is changed as a user is. */
export function AccountActions({ account: { name, role, active } }: { account: ServiceAccount }) {
  const may = useMay();
  const tenant = useTenant();
  const navigate = useNavigate();
  const [open, setOpen] = useState<'role' | 'deactivate' | 'delete' | null>(null);
  const close = (): void => setOpen(null);
  const activity = useChange<'activate' | 'deactivate'>(
    PEOPLE,
    (client, ofTenant, action) =>
      client.call('activateUser', { tenant: ofTenant, params: { username: name }, body: { action } }),
    close,
  );
  const remove = useChange(
    PEOPLE,
    async (client, ofTenant) => {
      await deleteAccount(client, ofTenant, name);
      // Leaves the screen first: it would otherwise read the deleted account again.
      await navigate({ to: '/$tenant/admin/service-accounts', params: { tenant } });
    },
    close,
  );
  const texts = t.serviceAccounts;
  return (
    <>
      {open === null && <InlineProblem error={activity.error} />}
      {may('user_update') && <Button onClick={() => setOpen('role')}>{t.users.setRole}</Button>}
      {may('user_set_activated') &&
        (active ? (
          <Button onClick={() => setOpen('deactivate')}>{t.users.deactivate}</Button>
        ) : (
          <Button look="main" disabled={activity.isPending} onClick={() => activity.mutate('activate')}>
            {t.users.activate}
          </Button>
        ))}
      {may('user_delete') && <Button onClick={() => setOpen('delete')}>{t.resource.delete}</Button>}
      <Suspense fallback={null}>
        {open === 'role' && (
          <RoleDialog
            name={name}
            role={role}
            save={(client, ofTenant, next) =>
              client.call('updateUser', {
                tenant: ofTenant,
                params: { username: name },
                body: { role: next },
              })
            }
            warning={adminWarning}
            onClose={close}
          />
        )}
        {open === 'deactivate' && (
          <ConfirmDialog
            title={t.users.deactivateTitle(name)}
            text={texts.deactivateText}
            action={t.users.deactivate}
            mutation={{ ...activity, mutate: () => activity.mutate('deactivate') }}
            onClose={close}
          />
        )}
        {open === 'delete' && (
          <ConfirmDialog
            title={texts.deleteOf(name)}
            text={texts.deleteText}
            action={texts.deleteSubmit}
            mutation={remove}
            typed={name}
            onClose={close}
          />
        )}
      </Suspense>
    </>
  );
}
