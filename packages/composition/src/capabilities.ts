import type { JsonObject } from '@baton/kernel';
import type { InstanceContext } from '@baton/plugin-sdk';
import type { Scope } from './scope';

export async function readCapabilities({ manager }: Pick<Scope, 'manager'>, id: string): Promise<JsonObject> {
  const { capabilities } = await manager.client.call('getDeploymentCapabilities', { params: { id } });
  return capabilities as JsonObject;
}

/** Stores the capabilities of a deployment in the runtime properties; the log shows only their names: values may be secret. */
export async function storeCapabilities(
  scope: Pick<Scope, 'manager' | 'ctx'>,
  deploymentId: string,
  instance: InstanceContext,
): Promise<void> {
  scope.ctx.logger.info(`Fetching "${deploymentId}" deployment capabilities..`);
  const capabilities = await readCapabilities(scope, deploymentId);
  instance.runtimeProperties.capabilities = capabilities;
  scope.ctx.logger.info(`Fetched capabilities: ${Object.keys(capabilities).join(', ') || '(none)'}`);
}
