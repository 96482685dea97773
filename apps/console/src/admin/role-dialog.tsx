/** Changes the manager-wide role of a user or of a group. */
import type { Client } from '@baton/client';
import { type ReactNode, useState } from 'react';
import { PEOPLE } from '../api/people';
import { useChange } from '../api/use-change';
import { t } from '../text/text';
import { FormDialog } from '../ui/form-dialog';
import { RoleField } from './role-field';

interface RoleDialogProps {
  /** Name of the user or group. */
  name: string;
  role: string;
  save: (client: Client, tenant: string, role: string) => Promise<unknown>;
  /** Warning about the chosen role. */
  warning?: (role: string) => ReactNode;
  onClose: () => void;
}

export function RoleDialog({ name, role: before, save, warning, onClose }: RoleDialogProps) {
  const [role, setRole] = useState(before);
  const change = useChange<string>(PEOPLE, save, onClose);
  return (
    <FormDialog
      title={t.people.roleTitle(name)}
      submit={t.people.changeRole}
      mutation={change}
      isIncomplete={role === before}
      onSubmit={() => change.mutate(role)}
      onClose={onClose}
    >
      <RoleField type="system_role" value={role} onChange={setRole} />
      {warning?.(role)}
    </FormDialog>
  );
}
