import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTenant } from '../../api/api-context';
import { PEOPLE } from '../../api/people';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/inputs';
import { adminWarning } from '../admin-warning';
import { RoleField } from '../role-field';

interface NewUser {
  username: string;
  password: string;
  role: string;
}

/** Default role: no manager-wide permissions. */
const USUAL_ROLE = 'default';

/** Creates a user, then opens its screen: adding a tenant is the next step. */
export default function NewUserDialog({ onClose }: { onClose: () => void }) {
  const tenant = useTenant();
  const navigate = useNavigate();
  const [user, setUser] = useState<NewUser>({ username: '', password: '', role: USUAL_ROLE });
  const set = (part: Partial<NewUser>): void => setUser((before) => ({ ...before, ...part }));
  const create = useChange<NewUser>(
    PEOPLE,
    (client, ofTenant, body) => client.call('createUser', { tenant: ofTenant, body }),
    (_answer, { username }) => {
      onClose();
      void navigate({ to: '/$tenant/admin/users/$id', params: { tenant, id: username } });
    },
  );
  return (
    <FormDialog
      title={t.users.create}
      submit={t.users.create}
      mutation={create}
      isIncomplete={user.username === '' || user.password === ''}
      onSubmit={() => create.mutate(user)}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <TextField
            label={t.users.username}
            hint={t.users.usernameHint}
            error={errorOf('username')}
            isRequired
            value={user.username}
            onChange={(username) => set({ username })}
          />
          <TextField
            label={t.users.password}
            hint={t.users.passwordHint}
            error={errorOf('password')}
            type="password"
            autoComplete="new-password"
            isRequired
            value={user.password}
            onChange={(password) => set({ password })}
          />
          <RoleField type="system_role" value={user.role} onChange={(role) => set({ role })} />
          {adminWarning(user.role)}
        </>
      )}
    </FormDialog>
  );
}
