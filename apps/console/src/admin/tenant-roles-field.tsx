import { t } from '../text/text';
import type { ErrorOf } from '../ui/form-dialog';
import { type Pair, PairRows } from '../ui/pair-rows';
import { rowProblem } from '../ui/row-problem';
import { useRoleChoices, useTenantNames } from './use-roles';

/** Tenants, each with a role in it. `field`: name of the list in the request body. */
export function TenantRolesField({
  rows,
  onChange,
  errorOf,
  field = 'tenants',
  label = t.people.tenantRoles,
}: {
  rows: readonly Pair[];
  onChange: (rows: Pair[]) => void;
  errorOf: ErrorOf;
  field?: string;
  label?: string;
}) {
  const choices = useRoleChoices('tenant_role');
  return (
    <PairRows
      label={label}
      names={[t.people.tenant, t.people.role]}
      rows={rows}
      onChange={onChange}
      addText={t.people.addTenant}
      suggestions={useTenantNames()}
      choices={choices}
      rowError={(at) => rowProblem(errorOf, field, at, 'name') ?? rowProblem(errorOf, field, at)}
    />
  );
}
