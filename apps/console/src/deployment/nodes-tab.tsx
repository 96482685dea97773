import { useQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import type { DeploymentAgent } from '../admin/agents/agents';
import { HostAgent, useDeploymentAgents } from '../admin/agents/host-agents';
import { useApi, useTenant } from '../api/api-context';
import { instancesQuery, type NodeInstance, nodesQuery, type PlanNode } from '../api/deployments';
import { t } from '../text/text';
import { Facts } from '../ui/facts';
import { Properties } from '../ui/json-view';
import cells from '../ui/row-cells.module.css';
import { Empty, Loaded } from '../ui/states';
import { instanceTone } from '../ui/tone';
import styles from './nodes-tab.module.css';

/** Nodes. Each row opens its instances with their runtime properties. */
export default function NodesTab({ id }: { id: string }) {
  const { client } = useApi();
  const query = useQuery(nodesQuery(client, useTenant(), id));
  return (
    <Loaded query={query}>
      {({ items, total }) =>
        items.length === 0 ? (
          <Empty title={t.nodes.empty} hint={t.nodes.emptyHint} />
        ) : (
          <>
            {total > items.length && <p className={cells.quiet}>{t.of(items.length, total)}</p>}
            <ul className={styles.nodes}>
              {items.map((node) => (
                <NodeItem key={node.id} node={node} deploymentId={id} isAlone={items.length === 1} />
              ))}
            </ul>
          </>
        )
      }
    </Loaded>
  );
}

function NodeItem({
  node,
  deploymentId,
  isAlone,
}: {
  node: PlanNode;
  deploymentId: string;
  isAlone: boolean;
}) {
  const [isOpen, setOpen] = useState(isAlone);
  const panelId = `instances-${node.id}`;
  const odd = [
    node.drifted_instances > 0 && t.deployments.drifted(node.drifted_instances),
    node.unavailable_instances > 0 && t.deployments.unavailable(node.unavailable_instances),
  ].filter(Boolean);
  return (
    <li className={styles.node}>
      <button
        type="button"
        className={styles.head}
        aria-expanded={isOpen}
        aria-controls={panelId}
        onClick={() => setOpen(!isOpen)}
      >
        <ChevronRight size={16} aria-hidden="true" className={styles.arrow} />
        <span className={styles.name}>{node.id}</span>
        <span className={styles.type}>{node.type}</span>
        {odd.length > 0 && <span className={cells.bad}>{odd.join(', ')}</span>}
        <span className={styles.count}>{t.topology.instances(node.number_of_instances)}</span>
      </button>
      {isOpen && (
        <div id={panelId} className={styles.instances}>
          <Instances deploymentId={deploymentId} nodeId={node.id} />
        </div>
      )}
    </li>
  );
}

function Instances({ deploymentId, nodeId }: { deploymentId: string; nodeId: string }) {
  const { client } = useApi();
  const query = useQuery(
    instancesQuery(client, useTenant(), deploymentId, { node_id: nodeId, _sort: 'index' }),
  );
  const agents = useDeploymentAgents(deploymentId);
  return (
    <Loaded query={query}>
      {({ items, total }) =>
        items.length === 0 ? (
          <p className={cells.quiet}>{t.nodes.none}</p>
        ) : (
          <>
            {total > items.length && <p className={cells.quiet}>{t.nodes.tooMany(items.length, total)}</p>}
            {items.map((instance) => (
              <Instance
                key={instance.id}
                instance={instance}
                agent={agents.find(({ node_instance_id: id }) => id === instance.id)}
              />
            ))}
          </>
        )
      }
    </Loaded>
  );
}

/** Null: the last check found nothing wrong. Before the first one the manager counts an instance as unavailable, too. */
function checkOf({ is_status_check_ok: isOk, system_properties: system }: NodeInstance): string | null {
  if (isOk) return null;
  return system?.status === undefined ? t.nodes.notChecked : t.nodes.checkFailed;
}

/** Runtime properties that plugins and Baton need for their own work, such as the results of steps. */
const isInner = ([name]: [string, unknown]): boolean => name.startsWith('__baton');

function Instance({ instance, agent }: { instance: NodeInstance; agent: DeploymentAgent | undefined }) {
  const runtime = Object.entries(instance.runtime_properties);
  const inner = runtime.filter(isInner);
  const told = runtime.filter((entry) => !isInner(entry));
  return (
    <section className={styles.instance} aria-label={instance.id}>
      <h3 className={styles.title}>
        <span className={styles.dot} data-tone={instanceTone(instance.state)} aria-hidden="true" />
        {instance.id}
        <span className={styles.state}>{instance.state}</span>
        {instance.has_configuration_drift && <span className={cells.bad}>{t.nodes.hasDrift}</span>}
      </h3>
      <Facts
        facts={[
          [t.nodes.host, instance.host_id === instance.id ? null : instance.host_id],
          [t.agents.ofHost, agent && <HostAgent key="agent" agent={agent} />],
          [t.nodes.check, checkOf(instance)],
          [
            t.nodes.relationships,
            instance.relationships
              .map(({ target_id, type }) => `${type.split('.').at(-1)} ${target_id}`)
              .join(', '),
          ],
        ]}
      />
      <div className={styles.runtime}>
        <p className={styles.label}>{t.nodes.runtime}</p>
        <Properties of={Object.fromEntries(told)} empty={t.nodes.noRuntime} />
        {inner.length > 0 && (
          <details className={styles.inner}>
            <summary>{t.nodes.inner(inner.length)}</summary>
            <Properties of={Object.fromEntries(inner)} empty="" />
          </details>
        )}
      </div>
    </section>
  );
}
