import { useQuery } from '@tanstack/react-query';
import { useApi, useTenant } from '../api/api-context';
import { namesQuery, rolesQuery } from '../api/people';
import type { Choices } from '../ui/field';

/** Roles of one kind as choices; `any`: those that are both. */
export function useRoleChoices(type: 'system_role' | 'tenant_role'): Choices {
  const { client } = useApi();
  const { data: roles = [] } = useQuery(rolesQuery(client, useTenant()));
  return roles.filter((role) => role.type === type || role.type === 'any').map(({ name }) => [name, name]);
}

/** Names of tenants, as suggestions. */
export function useTenantNames(): readonly string[] {
  const { client } = useApi();
  const { data: names = [] } = useQuery(namesQuery(client, useTenant(), 'tenants', ''));
  return names;
}
