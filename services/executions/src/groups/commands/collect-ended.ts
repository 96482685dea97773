import type { Ports } from '../../ports';
import { readGroup } from '../store/execution-groups.sql';

/**
 * Handles the end of an execution of a group: its deployment joins the deployment group that collects successes or failures, if
 * there is one (reference/rest-api.md 5.8). Adding it twice changes nothing, so the message may be delivered again.
 */
export async function collectEnded(
  deps: Pick<Ports, 'db' | 'deployments'>,
  tenant: string,
  ended: { executionGroupId?: string; deploymentId: string; status: string },
): Promise<void> {
  if (ended.executionGroupId === undefined || ended.status === 'cancelled') return;
  const group = await readGroup(deps.db.query, tenant, ended.executionGroupId);
  const target = ended.status === 'terminated' ? group?.success_group_id : group?.failure_group_id;
  if (target) await deps.deployments.addToGroup(tenant, target, ended.deploymentId);
}
