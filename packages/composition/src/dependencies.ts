import type { JsonObject } from '@baton/kernel';
import { ownAddresses } from './connect';
import { isMissing } from './failures';
import { publicPart, remoteClientConfig } from './remote-client';
import type { Scope } from './scope';
import { objectSetting } from './settings';

export type Kind = 'component' | 'sharedresource';

interface Dependency {
  dependency_creator: string;
  source_deployment: string;
  target_deployment?: string;
  external_source?: JsonObject;
  external_target?: JsonObject;
}

const creatorOf = (kind: Kind, { instance }: Scope): string => `${kind}.${instance.id}`;

/** The record at the target's manager (reference/workflows.md 8.5). */
async function targetRecord(scope: Scope, kind: Kind, target: string): Promise<Dependency> {
  const { ctx, manager, own } = scope;
  const record = {
    dependency_creator: creatorOf(kind, scope),
    source_deployment: ctx.deployment.id,
    target_deployment: target,
  };
  if (!manager.isExternal) return record;
  const external_source = {
    deployment: ctx.deployment.id,
    tenant: ctx.tenant,
    host: await ownAddresses(own),
  };
  return { ...record, external_source };
}

/** The record at this manager of a target at another manager; without credentials, because users who list dependencies see it. */
function ownRecord(scope: Scope, kind: Kind, target: string): Dependency {
  const client_config = publicPart(remoteClientConfig(objectSetting(scope, 'client'), 'client'));
  return {
    dependency_creator: creatorOf(kind, scope),
    source_deployment: scope.ctx.deployment.id,
    external_target: { deployment: target, client_config },
  };
}

/** Records that this deployment needs `target`. Safe to repeat: existing records stay. */
export async function recordDependency(scope: Scope, kind: Kind, target: string): Promise<void> {
  if (scope.manager.isExternal) await record(scope, scope.own, ownRecord(scope, kind, target));
  await record(scope, scope.manager, await targetRecord(scope, kind, target));
}

async function record(scope: Scope, manager: Scope['manager'], body: Dependency): Promise<void> {
  const { items } = await manager.client.call('listInterDeploymentDependencies', {
    query: { dependency_creator: body.dependency_creator },
  });
  const isSame = items.some((item) => {
    const source = item.source_deployment_id ?? item.external_source?.deployment;
    if (source !== scope.ctx.deployment.id) return false;
    return body.external_target
      ? item.external_target !== null
      : item.target_deployment_id === body.target_deployment;
  });
  if (!isSame) await manager.client.call('createInterDeploymentDependency', { body });
}

/** Removes the record that this deployment needs `target`; a missing record is no error. */
export async function dropDependency(scope: Scope, kind: Kind, target: string): Promise<void> {
  await drop(scope.manager, await targetRecord(scope, kind, target), kind);
  if (scope.manager.isExternal) await drop(scope.own, ownRecord(scope, kind, target), kind);
}

async function drop({ client }: Scope['manager'], body: Dependency, kind: Kind): Promise<void> {
  try {
    await client.call('deleteInterDeploymentDependency', {
      body: { ...body, is_component_deletion: kind === 'component' },
    });
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
