import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { useApi } from '../api/api-context';
import { sessionQuery } from '../api/session';
import { useSettings } from '../settings/settings';
import { USUAL_TENANT } from './opened-tenant';

/** /ui/ redirects to the last shown tenant, or to the first one. */
export function Home() {
  const { client } = useApi();
  const { tenant: last } = useSettings();
  const { data: session } = useQuery(sessionQuery(client));
  const names = session?.tenants.map(({ name }) => name) ?? [];
  const tenant =
    [last, USUAL_TENANT].find((name) => name !== null && names.includes(name)) ?? names[0] ?? USUAL_TENANT;
  return <Navigate to="/$tenant" params={{ tenant }} replace />;
}
