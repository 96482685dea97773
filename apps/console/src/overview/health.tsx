/** Health of the manager, and whether it is in maintenance. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { healthOf } from '../admin/cluster/health-rows';
import { useApi, useTenant } from '../api/api-context';
import { clusterStatusQuery, maintenanceQuery } from '../api/manager';
import { t } from '../text/text';
import { Badge } from '../ui/badge';
import { Facts } from '../ui/facts';
import { Panel } from '../ui/panel';
import { Loaded } from '../ui/states';
import styles from './overview.module.css';

export function Health() {
  const { client } = useApi();
  const tenant = useTenant();
  const query = useQuery(clusterStatusQuery(client, tenant));
  return (
    <Panel
      title={t.overview.health}
      side={
        <Link to="/$tenant/admin/cluster" params={{ tenant }}>
          {t.overview.healthAll}
        </Link>
      }
    >
      <Loaded query={query}>
        {({ services }) => (
          <Facts
            facts={Object.entries(services).map(([group, { status }]) => [
              t.overview.groups[group] ?? group,
              <Badge key={group} status={healthOf(status)} />,
            ])}
          />
        )}
      </Loaded>
    </Panel>
  );
}

/** Shown above everything else during maintenance: it explains why nothing progresses. */
export function MaintenanceBanner() {
  const { client } = useApi();
  const tenant = useTenant();
  const { data } = useQuery(maintenanceQuery(client, tenant));
  const text = t.overview.maintenance[data?.status ?? ''];
  if (!text) return null;
  return (
    <p className={styles.banner} role="status">
      <TriangleAlert size={17} aria-hidden="true" /> {text}{' '}
      <Link to="/$tenant/admin/maintenance" params={{ tenant }}>
        {t.overview.maintenanceLink}
      </Link>
    </p>
  );
}
