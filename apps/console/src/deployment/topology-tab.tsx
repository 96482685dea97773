import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi, useTenant } from '../api/api-context';
import { topologyQuery } from '../api/deployments';
import { t } from '../text/text';
import { TopologyView } from '../topology/topology-view';
import { useTopologyView } from '../topology/use-topology-view';
import { Loaded } from '../ui/states';

/** `executionId`: the latest execution, whose events can be replayed; null: there is none. */
export default function TopologyTab({ id, executionId }: { id: string; executionId: string | null }) {
  const { client } = useApi();
  const tenant = useTenant();
  const query = useQuery(topologyQuery(client, tenant, id));
  const look = useTopologyView();
  const replay = executionId && (
    <Link
      to="/$tenant/executions/$id/$tab"
      params={{ tenant, id: executionId, tab: 'topology' }}
      search={{ at: '1' }}
    >
      {t.replay.latest}
    </Link>
  );
  return (
    <Loaded query={query}>{(topology) => <TopologyView topology={topology} bar={replay} {...look} />}</Loaded>
  );
}
