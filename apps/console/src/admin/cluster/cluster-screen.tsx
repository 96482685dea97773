/** Health of the manager: its components, services, nodes and workers. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useApi, useMay, useTenant } from '../../api/api-context';
import { type ClusterStatus, clusterStatusQuery, servicesQuery, versionQuery } from '../../api/manager';
import { t } from '../../text/text';
import { Badge } from '../../ui/badge';
import { Facts } from '../../ui/facts';
import { Panel } from '../../ui/panel';
import cells from '../../ui/row-cells.module.css';
import { Screen } from '../../ui/screen';
import { SimpleTable } from '../../ui/simple-table';
import { Loaded } from '../../ui/states';
import { healthOf, type ServiceRow, serviceRows } from './health-rows';
import { Nodes } from './nodes';
import { Workers } from './workers';

export function ClusterScreen() {
  const { client } = useApi();
  const tenant = useTenant();
  const may = useMay();
  const status = useQuery(clusterStatusQuery(client, tenant));
  const { data } = status;
  return (
    <Screen
      name={t.cluster.title}
      title={
        <>
          {t.cluster.title} {data && <Badge status={healthOf(data.status)} />}
        </>
      }
    >
      <Loaded query={status}>{(cluster) => <Parts cluster={cluster} />}</Loaded>
      {may('status_get') && <Services />}
      {may('manager_get') && <Nodes statuses={data?.services.manager?.nodes ?? {}} />}
      {may('manager_manage') && <Workers />}
    </Screen>
  );
}

function Parts({ cluster }: { cluster: ClusterStatus }) {
  const { client } = useApi();
  const { data: version } = useQuery(versionQuery(client, useTenant()));
  return (
    <Panel title={t.cluster.groups}>
      <Facts
        facts={[
          ...Object.entries(cluster.services).map(([name, { status, is_external }]): [string, ReactNode] => [
            t.overview.groups[name] ?? name,
            <span key={name} className={cells.pair}>
              <Badge status={healthOf(status)} />
              {is_external && <span className={cells.quiet}>{t.cluster.external}</span>}
            </span>,
          ]),
          [t.cluster.version, version?.version],
          [t.cluster.edition, version?.edition],
        ]}
      />
    </Panel>
  );
}

function Services() {
  const { client } = useApi();
  const query = useQuery(servicesQuery(client, useTenant()));
  const names = t.cluster;
  return (
    <Panel title={names.services}>
      <Loaded query={query}>
        {({ services }) => (
          <SimpleTable<ServiceRow>
            label={names.services}
            rows={serviceRows(services)}
            keyOf={({ name }) => name}
            columns={[
              { name: names.service, cell: ({ name }) => name },
              { name: names.state, cell: ({ health }) => <Badge status={health} /> },
              {
                name: names.instances,
                cell: ({ processes }) =>
                  processes.length === 0
                    ? t.none
                    : t.of(processes.filter(({ isUp }) => isUp).length, processes.length),
              },
              {
                name: names.problem,
                cell: ({ problem }) => (problem ? <span className={cells.bad}>{problem}</span> : t.none),
              },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
