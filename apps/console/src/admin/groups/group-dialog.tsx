/** Dialogs for one group: change its role, delete it. */
import { useNavigate } from '@tanstack/react-router';
import { useTenant } from '../../api/api-context';
import { type GroupRow, PEOPLE } from '../../api/people';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { sizeOf } from '../memberships';
import { RoleDialog } from '../role-dialog';

interface DialogProps {
  group: GroupRow;
  onClose: () => void;
}

export default function GroupDialog({ asked, ...props }: DialogProps & { asked: 'role' | 'delete' }) {
  return asked === 'role' ? <GroupRole {...props} /> : <DeleteDialog {...props} />;
}

function GroupRole({ group: { name, role }, onClose }: DialogProps) {
  return (
    <RoleDialog
      name={name}
      role={role}
      save={(client, tenant, next) =>
        client.call('updateUserGroup', { tenant, params: { group_name: name }, body: { role: next } })
      }
      onClose={onClose}
    />
  );
}

function DeleteDialog({ group: { name, users }, onClose }: DialogProps) {
  const tenant = useTenant();
  const navigate = useNavigate();
  const remove = useChange(
    PEOPLE,
    async (client, ofTenant) => {
      await client.call('deleteUserGroup', { tenant: ofTenant, params: { group_name: name } });
      await navigate({ to: '/$tenant/admin/groups', params: { tenant } });
    },
    onClose,
  );
  return (
    <ConfirmDialog
      title={t.groups.deleteTitle(name)}
      text={t.groups.deleteText(sizeOf(users))}
      action={t.groups.delete}
      mutation={remove}
      onClose={onClose}
    />
  );
}
