import { ownershipOf, type Principal, type Visibility, visibilityOfNew } from '@baton/contracts';
import { newId } from '@baton/kernel';
import { outbox } from '@baton/postgres';
import type { ServiceDeps } from '../deps';
import { refuseWithoutRoom } from '../store/deployment-quota.sql';
import { insertWorkdir } from '../store/waiting-workdirs.sql';
import {
  checkNewDeployment,
  checkPlugins,
  type DeploymentRequest,
  findBlueprint,
  type NewDeploymentBody,
  refuseTaken,
} from './check-deployment';
import { requireDeploymentId } from './resource-id';
import { creationMessage, prepareRows, storeDeployments, storeUntilFree } from './store-deployments';
import { unpackWorkdir } from './unpack-workdir';

export interface CreateDeploymentBody extends NewDeploymentBody {
  blueprint_id: string;
  visibility?: Visibility;
  private_resource?: boolean;
  created_at?: string;
  created_by?: string;
}

/**
 * PUT /deployments/{id} (reference/rest-api.md 5.2, reference/dsl.md 7.3): checks the request, prepares the plan and stores the
 * whole model in one transaction. A crash before the commit leaves nothing. The outbox message makes executions record the
 * terminated execution create_deployment_environment, whose id is given here. The archive of the working folder is stored in the
 * same transaction and unpacked after it; after a crash in between, the loop unpack-workdirs unpacks it.
 */
export async function createDeployment(
  deps: ServiceDeps,
  principal: Principal,
  id: string,
  body: CreateDeploymentBody,
  workdir: Buffer | null = null,
): Promise<void> {
  const request = await checkRequest(deps, principal, id, body);
  const { tenant } = principal;
  const requestId = newId();
  if (workdir) await deps.catalog.unpackFolder(tenant, id, workdir, { isCheck: true });
  const stored = await storeUntilFree(deps, [await prepareRows(deps, request)], async (tx, rows) => {
    const keys = await storeDeployments(tx, rows);
    const key = keys.get(id)!;
    if (workdir) await insertWorkdir(tx, { deployment_key: key, request_id: requestId, archive: workdir });
    await outbox.appendAll(tx, rows.map(creationMessage));
    return { key, executionId: rows[0]!.createExecutionId };
  });
  const { key, executionId } = stored;
  if (workdir)
    await unpackWorkdir(deps, { deployment_key: key, tenant, id, request_id: requestId, archive: workdir });
  await untilRecorded(deps, executionId);
}

/** Longest wait for the execution that clients look for at once. */
const RECORDED_MS = 1_000;

/**
 * Waits for the creating execution: clients ask for it once, right after this answer. While executions is unavailable, it appears
 * later.
 */
async function untilRecorded({ executions, log }: ServiceDeps, executionId: string): Promise<void> {
  await executions
    .isThere(executionId, RECORDED_MS)
    .catch((err: unknown) =>
      log.debug({ err, executionId }, 'the execution of a new deployment comes later'),
    );
}

async function checkRequest(
  deps: ServiceDeps,
  principal: Principal,
  id: string,
  body: CreateDeploymentBody,
): Promise<DeploymentRequest> {
  requireDeploymentId(id);
  const { tenant } = principal;
  await refuseWithoutRoom(deps.db.query, tenant, deps.limits.of(tenant).deployments, 1);
  const visibility = visibilityOfNew(principal, body.visibility, body.private_resource);
  const owner = await ownershipOf(principal, body, deps.identity.findUser);
  const blueprint = await findBlueprint(deps, principal, body.blueprint_id, visibility);
  const { createdAt, createdBy } = owner;
  const frame = { principal, visibility, blueprint, createdAt, createdBy };
  const request = await checkNewDeployment(deps, frame, id, body);
  await refuseTaken(deps, frame, [id]);
  if (!body.skip_plugins_validation) await checkPlugins(deps, principal.tenant, blueprint.plan);
  return request;
}
