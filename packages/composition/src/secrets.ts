import { FatalError } from '@baton/plugin-sdk';
import { isMissing, isRefusal } from './failures';
import type { Manager } from './manager';
import type { Scope } from './scope';
import { objectSetting } from './settings';
import { save, stateOf } from './state';

/** Names of the secrets that the node has created, or was about to create when its worker was lost. */
function ownSecrets({ instance }: Scope): string[] {
  const names = stateOf(instance).secrets;
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}

async function clashes({ client }: Manager, names: readonly string[]): Promise<string[]> {
  const { items } = await client.call('listSecrets', {
    query: { key: [...names], _include: 'key', _get_all_results: true },
  });
  return items.map(({ key }) => key).filter((key) => names.includes(key));
}

/**
 * Creates secrets that must not exist yet. Their names are stored first: after a crash existing secrets with these
 * names are ours.
 * @throws FatalError with the names of existing secrets.
 */
export async function createSecrets(
  scope: Scope,
  manager: Manager,
  secrets: Readonly<Record<string, unknown>>,
): Promise<void> {
  const names = Object.keys(secrets);
  if (names.length === 0) return;
  const { ctx, instance } = scope;
  if (ownSecrets(scope).length === 0) {
    const taken = await clashes(manager, names);
    if (taken.length > 0)
      throw new FatalError(`The secrets: "${taken.join(', ')}" already exist, not updating...`);
    stateOf(instance).secrets = names;
    await save(instance);
  }
  for (const name of names) {
    const value = secrets[name];
    try {
      await manager.client.call('putSecret', {
        params: { secret_key: name },
        body: { value: typeof value === 'string' ? value : JSON.stringify(value) },
      });
      ctx.logger.info(`Created secret ${name}`);
    } catch (error) {
      if (!isRefusal(error, 'conflict_error')) throw error;
    }
  }
}

/** Creates the secrets of the node's property `secrets`. */
export async function createNodeSecrets(scope: Scope): Promise<void> {
  await createSecrets(scope, scope.manager, objectSetting(scope, 'secrets'));
}

/** Deletes the secrets that the node has created; missing ones are no error. */
export async function deleteSecrets(scope: Scope, manager: Manager): Promise<void> {
  for (const name of ownSecrets(scope)) {
    try {
      await manager.client.call('deleteSecret', { params: { secret_key: name } });
      scope.ctx.logger.info(`Removed secret "${name}"`);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  delete stateOf(scope.instance).secrets;
}
