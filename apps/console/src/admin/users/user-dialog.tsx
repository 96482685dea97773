/** Dialogs for one user: set a new password, change the role, deactivate, delete. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTenant } from '../../api/api-context';
import { PEOPLE, type UserDetail } from '../../api/people';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/inputs';
import { adminWarning } from '../admin-warning';
import { RoleDialog } from '../role-dialog';

export type UserQuestion = 'password' | 'role' | 'deactivate' | 'delete';

interface DialogProps {
  user: UserDetail;
  onClose: () => void;
}

export default function UserDialog({ asked, ...props }: DialogProps & { asked: UserQuestion }) {
  if (asked === 'password') return <PasswordDialog {...props} />;
  if (asked === 'role') return <UserRole {...props} />;
  return asked === 'deactivate' ? <DeactivateDialog {...props} /> : <DeleteDialog {...props} />;
}

function PasswordDialog({ user: { username }, onClose }: DialogProps) {
  const [password, setPassword] = useState('');
  const change = useChange<string>(
    PEOPLE,
    (client, tenant, word) =>
      client.call('updateUser', { tenant, params: { username }, body: { password: word } }),
    onClose,
  );
  return (
    <FormDialog
      title={t.users.passwordTitle(username)}
      submit={t.users.setPassword}
      mutation={change}
      isIncomplete={password === ''}
      onSubmit={() => change.mutate(password)}
      onClose={onClose}
    >
      {(errorOf) => (
        <TextField
          label={t.users.password}
          hint={t.users.passwordHint}
          error={errorOf('password')}
          type="password"
          autoComplete="new-password"
          isRequired
          value={password}
          onChange={setPassword}
        />
      )}
    </FormDialog>
  );
}

function UserRole({ user: { username, role }, onClose }: DialogProps) {
  return (
    <RoleDialog
      name={username}
      role={role}
      save={(client, tenant, next) =>
        client.call('updateUser', { tenant, params: { username }, body: { role: next } })
      }
      warning={adminWarning}
      onClose={onClose}
    />
  );
}

function DeactivateDialog({ user: { username }, onClose }: DialogProps) {
  const change = useChange(
    PEOPLE,
    (client, tenant) =>
      client.call('activateUser', { tenant, params: { username }, body: { action: 'deactivate' } }),
    onClose,
  );
  return (
    <ConfirmDialog
      title={t.users.deactivateTitle(username)}
      text={t.users.deactivateText}
      action={t.users.deactivate}
      mutation={change}
      onClose={onClose}
    />
  );
}

function DeleteDialog({ user: { username }, onClose }: DialogProps) {
  const tenant = useTenant();
  const navigate = useNavigate();
  const remove = useChange(
    PEOPLE,
    async (client, ofTenant) => {
      await client.call('deleteUser', { tenant: ofTenant, params: { username } });
      // Leaves the user's screen first: it would otherwise read the deleted user again.
      await navigate({ to: '/$tenant/admin/users', params: { tenant } });
    },
    onClose,
  );
  return (
    <ConfirmDialog
      title={t.users.deleteTitle(username)}
      text={t.users.deleteText}
      action={t.users.delete}
      mutation={remove}
      typed={username}
      onClose={onClose}
    />
  );
}
