import { useQuery } from '@tanstack/react-query';
import { useApi, useTenant } from '../../api/api-context';
import { managersQuery } from '../../api/manager';
import { t } from '../../text/text';
import { Badge } from '../../ui/badge';
import { Panel } from '../../ui/panel';
import cells from '../../ui/row-cells.module.css';
import { SimpleTable } from '../../ui/simple-table';
import { Loaded } from '../../ui/states';
import { Time } from '../../ui/time';
import { type NodeRow, nodeRows } from './health-rows';

/** Machines of the cluster. `statuses`: the cluster status of each machine, by host name. */
export function Nodes({ statuses }: { statuses: Readonly<Record<string, Record<string, unknown>>> }) {
  const { client } = useApi();
  const query = useQuery(managersQuery(client, useTenant()));
  const names = t.cluster;
  return (
    <Panel title={names.nodes}>
      <Loaded query={query}>
        {(managers) =>
          managers.length === 0 ? (
            <p className={cells.quiet}>{names.noNodes}</p>
          ) : (
            <SimpleTable<NodeRow>
              label={names.nodes}
              rows={nodeRows(managers, statuses)}
              keyOf={({ hostname }) => hostname}
              columns={[
                { name: names.node, cell: ({ hostname }) => hostname },
                { name: names.state, cell: ({ health }) => <Badge status={health} /> },
                { name: names.addresses, cell: ({ address }) => address },
                { name: names.version, cell: ({ version }) => version },
                { name: names.lastSeen, cell: ({ lastSeen }) => <Time at={lastSeen} /> },
                {
                  name: names.failures,
                  cell: ({ failures }) => <span className={cells.bad}>{failures.join(', ')}</span>,
                },
              ]}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}
