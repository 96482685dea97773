import { useQuery } from '@tanstack/react-query';
import { useApi, useTenant } from '../api/api-context';
import { rolesQuery } from '../api/people';
import { t } from '../text/text';
import { SelectField } from '../ui/inputs';

/** Selects a role of the manager (`system_role`) or of a tenant, with a description of the role. */
export function RoleField({
  type,
  value,
  onChange,
}: {
  type: 'system_role' | 'tenant_role';
  value: string;
  onChange: (role: string) => void;
}) {
  const { client } = useApi();
  const { data: roles = [] } = useQuery(rolesQuery(client, useTenant()));
  const fitting = roles.filter((role) => role.type === type || role.type === 'any');
  const names = fitting.map(({ name }) => name);
  const options = names.includes(value) ? names : [value, ...names];
  return (
    <SelectField
      label={type === 'system_role' ? t.people.systemRole : t.people.role}
      hint={fitting.find(({ name }) => name === value)?.description}
      value={value}
      options={options.map((name) => [name, name] as const)}
      onChange={onChange}
    />
  );
}
