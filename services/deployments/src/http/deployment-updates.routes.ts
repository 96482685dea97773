import { setTimeout as delay } from 'node:timers/promises';
import type { Principal } from '@baton/contracts';
import { deploymentUpdatesRoutes } from '@baton/contracts/http/deployment-updates';
import { type BoundRoute, bindRoutes, type HttpCall, listEnvelope } from '@baton/http';
import { notFound, systemClock } from '@baton/kernel';
import { type InitiateUpdate, initiateUpdate } from '../commands/initiate-update';
import type { ServiceDeps } from '../deps';
import { findUpdate, isUpdating, listUpdates } from '../queries/deployment-updates';
import type { WirePolicy } from './wire-policy';

const PREVIEW_WAIT_MS = 120_000;
const PREVIEW_POLL_MS = 250;

interface Call extends Pick<HttpCall, 'version'> {
  principal: Principal;
  params: Record<string, string>;
  body: InitiateUpdate;
  signal: AbortSignal;
}

/** Deployment updates (reference/rest-api.md 5.3). */
export function deploymentUpdatesHttp(deps: ServiceDeps, wire: WirePolicy): BoundRoute[] {
  const read = async (call: Pick<Call, 'version' | 'principal'>, id: string) => {
    const found = await findUpdate(deps.db.query, call.principal, id);
    if (!found) throw notFound('DeploymentUpdate', id);
    const { changes, ...update } = found;
    const shown = wire.present(call.version, 'deploymentUpdate', update);
    return wire.showsUpdateChanges ? { ...shown, changes } : shown;
  };
  const initiate = async (call: Call) => {
    const { principal, params, body, signal } = call;
    const id = await initiateUpdate(deps, principal, params.deployment_id!, body);
    if (body.preview === true) await previewEnd(deps, id, signal);
    return read(call, id);
  };
  return bindRoutes(deploymentUpdatesRoutes, {
    listDeploymentUpdates: async (call) => {
      const page = await listUpdates(deps.db.query, call.principal, call.list);
      const items = page.items.map((item) => wire.present(call.version, 'deploymentUpdate', item));
      return listEnvelope({ ...page, items }, call.list);
    },
    getDeploymentUpdate: (call) => read(call, call.params.update_id!),
    finalizeDeploymentUpdate: (call) => read(call, call.params.update_id!),
    initiateDeploymentUpdate: (call) => initiate(call as unknown as Call),
    initiateDeploymentUpdateByPost: (call) => initiate(call as unknown as Call),
  });
}

/** Waits until the preview has its steps or has failed, at most until its time limit. */
async function previewEnd(deps: ServiceDeps, id: string, signal: AbortSignal): Promise<void> {
  const deadline = systemClock.monotonic() + PREVIEW_WAIT_MS;
  while ((await isUpdating(deps.db.query, id)) && systemClock.monotonic() < deadline)
    await delay(PREVIEW_POLL_MS, undefined, { signal });
}
