import type { Json } from '@baton/kernel';
import { storeCapabilities } from '../capabilities';
import type { Scope } from '../scope';
import { componentConfigOf, deploymentIdOf } from '../settings';

/** Updates the capabilities in the runtime properties (reference/workflows.md 8.1). */
export async function refresh(scope: Scope): Promise<Json> {
  const deploymentId = deploymentIdOf(scope.instance, componentConfigOf(scope));
  await storeCapabilities(scope, deploymentId, scope.instance);
  return null;
}
