import { useNavigate } from '@tanstack/react-router';
import type { Session } from '../api/answers';
import { t } from '../text/text';
import { BarSelect } from '../ui/field';

/** Selects the tenant of all screens. A new tenant starts at its deployments, because ids are valid in one tenant only. */
export function TenantSelect({ tenant, session }: { tenant: string; session: Session | null }) {
  const navigate = useNavigate();
  const names = session?.tenants.map(({ name }) => name) ?? [];
  // A tenant in the address that the user cannot access is listed as well; the API refuses its requests.
  const shown = names.includes(tenant) ? names : [tenant, ...names];
  return (
    <BarSelect
      label={t.nav.tenant}
      value={tenant}
      options={shown.map((name) => [name, name] as const)}
      onChange={(next) => void navigate({ to: '/$tenant/deployments', params: { tenant: next } })}
    />
  );
}
