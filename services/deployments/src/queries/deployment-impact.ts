import { type Principal, requireOwnTenant } from '@baton/contracts';
import type { ServiceDeps } from '../deps';
import { describeDependent } from '../domain/dependents';
import { descendantKeys } from '../store/dependencies.sql';
import { readImpactCounts } from '../store/impact.sql';
import { deletionBlockers, deletionFacts } from './deletion-blockers';
import { visibleDeployment } from './visible-deployment';

/** Most deployments of a recursive delete that are checked: each needs a call to executions. */
const MAX_LOOKED_AT = 100;

interface ImpactOptions {
  force: boolean;
  recursive: boolean;
}

/**
 * Returns the effects of DELETE /deployments/{id} with the same options, and its blockers: decided by the same code as the delete.
 * The answer holds only for the moment; the delete checks again.
 * @throws AppError not_found_error, illegal_action_error (of another tenant).
 */
export async function deploymentImpact(
  deps: Pick<ServiceDeps, 'db' | 'executions' | 'texts'>,
  principal: Principal,
  id: string,
  { force, recursive }: ImpactOptions,
) {
  const row = await visibleDeployment(deps.db.query, principal, id);
  requireOwnTenant(principal, row.tenant, `Deployment \`${id}\``);
  const children = recursive ? await descendantKeys(deps.db.query, row.key) : [];
  const family = [row.key, ...children.map(({ key }) => key)];
  const members = [{ key: row.key, id: row.id }, ...children].slice(0, MAX_LOOKED_AT);
  const found: Impact = { blockers: [], dependents: [], running_executions: [] };
  for (const member of members)
    await lookAt(deps, { ...member, tenant: row.tenant }, family, { force, found });
  const isWhole = members.length === family.length;
  const { live, groups } = await readImpactCounts(deps.db.query, principal, family);
  return {
    deployment_id: row.id,
    can_delete: isWhole && found.blockers.length === 0,
    is_whole: isWhole,
    deployments: members.map((member) => member.id),
    total_deployments: family.length,
    ...found,
    schedules: await deps.executions.countSchedules(
      row.tenant,
      members.map((member) => member.id),
    ),
    groups,
    live_instances: live,
  };
}

interface Impact {
  /** `deployment_id`: the deployment of the family that is blocked. */
  blockers: { kind: string; id: string; reason: string; deployment_id: string }[];
  /** Deployments outside of the family that need one in it, also those that do not block the delete. */
  dependents: { deployment_id: string; of: string; is_external: boolean; reason: string }[];
  running_executions: { id: string; workflow_id: string; status: string; deployment_id: string }[];
}

/** Adds the effects and blockers of one deployment of the family. */
async function lookAt(
  deps: Pick<ServiceDeps, 'db' | 'executions' | 'texts'>,
  member: { key: number; id: string; tenant: string },
  family: readonly number[],
  { force, found }: { force: boolean; found: Impact },
): Promise<void> {
  const { id: deployment_id } = member;
  const facts = deletionFacts(deps, member, family);
  const [dependents, active] = await Promise.all([facts.dependents(), facts.active()]);
  for (const dependent of dependents)
    found.dependents.push({
      deployment_id: dependent.deploymentId,
      of: deployment_id,
      is_external: dependent.isExternal ?? false,
      reason: describeDependent(dependent),
    });
  for (const { id, workflow_id, status } of active)
    found.running_executions.push({ id, workflow_id, status, deployment_id });
  const known = { ...facts, dependents: async () => dependents, active: async () => active };
  for await (const { kind, things } of deletionBlockers(member, known, { force }))
    for (const thing of things) found.blockers.push({ kind, ...thing, deployment_id });
}
