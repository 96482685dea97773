/** Agents on the screens of a deployment. Users who may not list agents, and managers without any, show nothing there. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi, useMay, useTenant } from '../../api/api-context';
import { useQuiet } from '../../api/use-quiet';
import { t } from '../../text/text';
import cells from '../../ui/row-cells.module.css';
import { AgentBadge } from './agent-cells';
import { wordOf } from './agent-state';
import { type DeploymentAgent, deploymentAgentsQuery } from './agents';

const NONE: readonly DeploymentAgent[] = [];

/** Returns the agents of a deployment; none while they are not known. They come after what people wait for. */
export function useDeploymentAgents(deploymentId: string): readonly DeploymentAgent[] {
  const { client } = useApi();
  const may = useMay();
  const isQuiet = useQuiet();
  const { data } = useQuery({
    ...deploymentAgentsQuery(client, useTenant(), deploymentId),
    enabled: isQuiet && may('agent_list'),
  });
  return data ?? NONE;
}

/** Number of agents with a link to their list; those that are not connected are named. */
export function DeploymentAgents({ id, agents }: { id: string; agents: readonly DeploymentAgent[] }) {
  const tenant = useTenant();
  const away = agents.filter((agent) => wordOf(agent) !== 'connected').length;
  return (
    <span className={cells.pair}>
      <Link to="/$tenant/admin/agents" params={{ tenant }} search={{ deployment_id: id }}>
        {t.agents.ofDeployment(agents.length)}
      </Link>
      {away > 0 && <span className={cells.bad}>{t.agents.notConnected(away)}</span>}
    </span>
  );
}

/** The agent of a host. */
export function HostAgent({ agent }: { agent: DeploymentAgent }) {
  const tenant = useTenant();
  return (
    <span className={cells.pair}>
      <Link to="/$tenant/admin/agents/$id" params={{ tenant, id: agent.name }}>
        {agent.name}
      </Link>
      <AgentBadge agent={agent} isBare />
    </span>
  );
}
