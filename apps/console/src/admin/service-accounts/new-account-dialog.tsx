import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTenant } from '../../api/api-context';
import { PEOPLE } from '../../api/people';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/inputs';
import type { Pair } from '../../ui/pair-rows';
import { adminWarning } from '../admin-warning';
import { RoleField } from '../role-field';
import { tenantRolesOf } from '../tenant-roles';
import { TenantRolesField } from '../tenant-roles-field';
import { createAccount } from './service-accounts';

/** Default role: no manager-wide permissions. */
const USUAL_ROLE = 'default';

/** Makes a service account, then opens its screen: a token or a rule of trust is the next step. */
export default function NewAccountDialog({ onClose }: { onClose: () => void }) {
  const tenant = useTenant();
  const navigate = useNavigate();
  const [account, setAccount] = useState({ name: '', description: '', role: USUAL_ROLE });
  const [tenants, setTenants] = useState<Pair[]>([]);
  const set = (part: Partial<typeof account>): void => setAccount((before) => ({ ...before, ...part }));
  const create = useChange(
    PEOPLE,
    (client, ofTenant) =>
      createAccount(client, ofTenant, {
        ...account,
        name: account.name.trim(),
        tenants: tenantRolesOf(tenants),
      }),
    ({ name }) => {
      onClose();
      void navigate({ to: '/$tenant/admin/service-accounts/$id', params: { tenant, id: name } });
    },
  );
  return (
    <FormDialog
      title={t.serviceAccounts.create}
      submit={t.serviceAccounts.submit}
      mutation={create}
      onSubmit={() => create.mutate()}
      onClose={onClose}
      isIncomplete={account.name.trim() === ''}
    >
      {(errorOf) => (
        <>
          <TextField
            label={t.serviceAccounts.name}
            hint={t.users.usernameHint}
            value={account.name}
            onChange={(name) => set({ name })}
            error={errorOf('name')}
            isRequired
          />
          <TextField
            label={t.serviceAccounts.description}
            value={account.description}
            onChange={(description) => set({ description })}
            error={errorOf('description')}
          />
          <RoleField type="system_role" value={account.role} onChange={(role) => set({ role })} />
          {adminWarning(account.role)}
          <TenantRolesField rows={tenants} onChange={setTenants} errorOf={errorOf} />
        </>
      )}
    </FormDialog>
  );
}
