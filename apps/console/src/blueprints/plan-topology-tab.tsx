import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { planQuery } from '../api/blueprints';
import { t } from '../text/text';
import { type PlannedNode, planTopology } from '../topology/plan-topology';
import { TopologyView } from '../topology/topology-view';
import { useTopologyView } from '../topology/use-topology-view';
import { Empty, Loaded } from '../ui/states';

/** The topology of a deployment of this blueprint. */
export default function PlanTopologyTab({ id }: { id: string }) {
  const { client } = useApi();
  const query = useQuery(planQuery(client, useTenant(), id));
  return (
    <Loaded query={query}>
      {({ nodes }) =>
        nodes === undefined ? (
          <Empty title={t.blueprint.noPlan} hint={t.blueprint.noPlanHint} />
        ) : (
          <Drawn nodes={nodes as PlannedNode[]} />
        )
      }
    </Loaded>
  );
}

function Drawn({ nodes }: { nodes: PlannedNode[] }) {
  const topology = useMemo(() => planTopology(nodes), [nodes]);
  return <TopologyView topology={topology} emptyHint={t.blueprint.topologyHint} {...useTopologyView()} />;
}
