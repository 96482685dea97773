import { Link } from '@tanstack/react-router';
import { DeploymentAgents, useDeploymentAgents } from '../admin/agents/host-agents';
import { useTenant } from '../api/api-context';
import type { DeploymentDetail } from '../api/deployments';
import { statusText, t } from '../text/text';
import { Badge } from '../ui/badge';
import { Facts } from '../ui/facts';
import { Labels } from '../ui/labels';
import { Panel } from '../ui/panel';
import { Progress } from '../ui/progress';
import cells from '../ui/row-cells.module.css';
import { Time } from '../ui/time';
import styles from './deployment-summary.module.css';

/** Summary of the deployment: its status, its last execution, and its problems. */
export function DeploymentSummary({ deployment }: { deployment: DeploymentDetail }) {
  const drift = [
    deployment.drifted_instances > 0 && t.deployments.drifted(deployment.drifted_instances),
    deployment.unavailable_instances > 0 && t.deployments.unavailable(deployment.unavailable_instances),
  ].filter(Boolean);
  const agents = useDeploymentAgents(deployment.id);
  const parts = t.deployments.parts(deployment.sub_services_count, deployment.sub_environments_count);
  return (
    <Panel>
      {deployment.description && <p className={styles.description}>{deployment.description}</p>}
      <Facts
        facts={[
          [t.deployment.latest, <Latest key="latest" deployment={deployment} />],
          [t.deployment.installation, statusText(deployment.installation_status)],
          [
            t.deployments.columns.drift,
            drift.length > 0 ? <span className={cells.bad}>{drift.join(', ')}</span> : null,
          ],
          [t.deployment.blueprint, deployment.blueprint_id],
          [t.deployment.id, deployment.display_name === deployment.id ? null : deployment.id],
          [t.deployments.columns.parts, parts],
          [
            t.agents.title,
            agents.length > 0 ? <DeploymentAgents key="agents" id={deployment.id} agents={agents} /> : null,
          ],
          [t.deployment.site, deployment.site_name],
          [t.deployment.groups, deployment.deployment_groups.join(', ')],
          [
            t.deployment.created,
            <>
              <Time at={deployment.created_at} /> {t.deployment.createdBy} {deployment.created_by}
            </>,
          ],
          [t.deployment.visibility, deployment.visibility],
          [t.deployment.labels, deployment.labels.length > 0 ? <Labels labels={deployment.labels} /> : null],
        ]}
      />
    </Panel>
  );
}

function Latest({ deployment }: { deployment: DeploymentDetail }) {
  const tenant = useTenant();
  const { latest_execution: id } = deployment;
  if (!id) return <>{t.deployments.never}</>;
  return (
    <span className={cells.pair}>
      <Link to="/$tenant/executions/$id" params={{ tenant, id }}>
        {deployment.latest_execution_workflow_id}
      </Link>
      <Badge status={deployment.latest_execution_status} />
      {deployment.latest_execution_status === 'in_progress' && (
        <Progress
          finished={deployment.latest_execution_finished_operations}
          total={deployment.latest_execution_total_operations}
        />
      )}
    </span>
  );
}
