import type { Json } from '@baton/kernel';
import { storeCapabilities } from '../capabilities';
import { requireWell } from '../deployments';
import type { Scope } from '../scope';
import { componentConfigOf, deploymentIdOf } from '../settings';
import { targetIdOf } from './target';

/** Updates the capabilities in the runtime properties. */
export async function refreshShared(scope: Scope): Promise<Json> {
  await storeCapabilities(scope, targetIdOf(scope), scope.instance);
  return null;
}

/** Checks that the shared deployment is well; no workflow is run on it (reference/workflows.md 8.2). */
export async function checkSharedStatus(scope: Scope): Promise<Json> {
  await requireWell(scope.manager, deploymentIdOf(scope.instance, componentConfigOf(scope)));
  return null;
}
