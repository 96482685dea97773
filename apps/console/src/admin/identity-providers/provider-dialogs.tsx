/** Dialogs for one provider: make a user before its first sign-in, disable, delete. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTenant } from '../../api/api-context';
import { PEOPLE } from '../../api/people';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/inputs';
import {
  addProviderUser,
  changeProvider,
  deleteProvider,
  type IdentityProvider,
  PROVIDERS,
} from './identity-providers';

export type ProviderQuestion = 'user' | 'disable' | 'delete';

interface DialogProps {
  provider: IdentityProvider;
  onClose: () => void;
}

export default function ProviderDialogs({ asked, ...props }: DialogProps & { asked: ProviderQuestion }) {
  if (asked === 'user') return <AddUser {...props} />;
  return asked === 'disable' ? <Disable {...props} /> : <Delete {...props} />;
}

function AddUser({ provider: { id, type }, onClose }: DialogProps) {
  const tenant = useTenant();
  const navigate = useNavigate();
  const [user, setUser] = useState({ username: '', subject: '' });
  const add = useChange(
    [PROVIDERS, ...PEOPLE],
    (client, ofTenant) => addProviderUser(client, ofTenant, id, user),
    ({ username }) => {
      onClose();
      void navigate({ to: '/$tenant/admin/users/$id', params: { tenant, id: username } });
    },
  );
  const texts = t.identityProviders;
  return (
    <FormDialog
      title={texts.addUserTo(id)}
      submit={texts.addUser}
      mutation={add}
      onSubmit={() => add.mutate()}
      onClose={onClose}
      isIncomplete={user.username === '' || user.subject === ''}
    >
      {(errorOf) => (
        <>
          <p>{texts.addUserHint}</p>
          <TextField
            label={t.users.username}
            hint={t.users.usernameHint}
            value={user.username}
            onChange={(username) => setUser({ ...user, username })}
            error={errorOf('username')}
            isRequired
          />
          <TextField
            label={texts.subjects[type]}
            hint={texts.subjectHints[type]}
            value={user.subject}
            onChange={(subject) => setUser({ ...user, subject })}
            error={errorOf('subject')}
            isRequired
          />
        </>
      )}
    </FormDialog>
  );
}

function Disable({ provider: { id, users }, onClose }: DialogProps) {
  const change = useChange(
    [PROVIDERS],
    (client, tenant) => changeProvider(client, tenant, id, { is_enabled: false }),
    onClose,
  );
  return (
    <ConfirmDialog
      title={t.identityProviders.disableOf(id)}
      text={t.identityProviders.disableText(users)}
      action={t.identityProviders.disable}
      mutation={change}
      onClose={onClose}
    />
  );
}

function Delete({ provider: { id, users }, onClose }: DialogProps) {
  const tenant = useTenant();
  const navigate = useNavigate();
  const remove = useChange(
    [PROVIDERS],
    (client) => deleteProvider(client, tenant, id),
    () => navigate({ to: '/$tenant/admin/identity-providers', params: { tenant } }),
  );
  return (
    <ConfirmDialog
      title={t.identityProviders.deleteOf(id)}
      text={users > 0 ? t.identityProviders.deleteBlocked(users) : t.identityProviders.deleteText}
      action={t.identityProviders.deleteSubmit}
      mutation={remove}
      isBlocked={users > 0}
      typed={users > 0 ? undefined : id}
      onClose={onClose}
    />
  );
}
