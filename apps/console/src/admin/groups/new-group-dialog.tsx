import { useState } from 'react';
import { PEOPLE } from '../../api/people';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/inputs';
import { RoleField } from '../role-field';

interface NewGroup {
  name: string;
  ldapDn: string;
  role: string;
}

const USUAL_ROLE = 'default';

export default function NewGroupDialog({ onClose }: { onClose: () => void }) {
  const [group, setGroup] = useState<NewGroup>({ name: '', ldapDn: '', role: USUAL_ROLE });
  const set = (part: Partial<NewGroup>): void => setGroup((before) => ({ ...before, ...part }));
  const create = useChange<NewGroup>(
    PEOPLE,
    (client, tenant, { name, ldapDn, role }) =>
      client.call('createUserGroup', {
        tenant,
        body: { group_name: name, role, ...(ldapDn && { ldap_group_dn: ldapDn }) },
      }),
    onClose,
  );
  return (
    <FormDialog
      title={t.groups.create}
      submit={t.groups.create}
      mutation={create}
      isIncomplete={group.name === ''}
      onSubmit={() => create.mutate(group)}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <TextField
            label={t.groups.name}
            error={errorOf('group_name')}
            isRequired
            value={group.name}
            onChange={(name) => set({ name })}
          />
          <TextField
            label={t.groups.ldap}
            hint={t.groups.ldapHint}
            error={errorOf('ldap_group_dn')}
            value={group.ldapDn}
            onChange={(ldapDn) => set({ ldapDn })}
          />
          <RoleField type="system_role" value={group.role} onChange={(role) => set({ role })} />
        </>
      )}
    </FormDialog>
  );
}
