import type { Json } from '@baton/kernel';
import { requireWell } from '../deployments';
import type { Scope } from '../scope';
import { runOnChild } from './run-on-child';

/** Heals the deployment, which must then be well except for drift (reference/workflows.md 8.1). */
export async function heal(scope: Scope): Promise<Json> {
  const deploymentId = await runOnChild(scope, 'heal');
  scope.ctx.logger.info(`Heal of component deployment: ${deploymentId} finished`);
  await requireWell(scope.manager, deploymentId, false);
  return null;
}
