/** Shows a screen to users with the permission; others see the name of the missing permission. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { permissionsQuery } from '../api/session';
import { t } from '../text/text';
import { Empty, Loading } from './states';

export function Permitted({ permission, children }: { permission: string; children: ReactNode }) {
  const { client } = useApi();
  const { data, isPending } = useQuery(permissionsQuery(client, useTenant()));
  if (isPending) return <Loading />;
  // When the manager does not report permissions, the screen is shown: the manager checks each request anyway.
  if (data && !data.has(permission))
    return <Empty title={t.permitted.title} hint={t.permitted.hint(permission)} />;
  return children;
}
