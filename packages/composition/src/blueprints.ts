import { ApiError } from '@baton/client';
import { FatalError } from '@baton/plugin-sdk';
import { archiveOf, isUrl } from './blueprint-archive';
import { isMissing, isRefusal } from './failures';
import { type Labels, labelsOf } from './labels';
import type { Scope } from './scope';
import { type BlueprintConfig, blueprintIdOf } from './settings';

/** The original's client has 30 s for an upload. The manager parses the blueprint within this call. */
const UPLOAD_MS = 300_000;

async function isThere({ manager }: Scope, id: string): Promise<boolean> {
  const { items } = await manager.client.call('listBlueprints', { query: { id, _include: 'id' } });
  return items.length > 0;
}

/**
 * Ensures that the blueprint exists: an existing one is used, else it is uploaded (reference/workflows.md 8.1). Safe to
 * repeat.
 * @throws FatalError in the words of the reference.
 */
export async function provideBlueprint(scope: Scope, blueprint: BlueprintConfig): Promise<void> {
  const { ctx, instance } = scope;
  const id = blueprintIdOf(instance, blueprint);
  const isExternal = blueprint.external_resource ?? false;
  instance.runtimeProperties.blueprint = {
    id,
    blueprint_archive: blueprint.blueprint_archive ?? '',
    application_file_name: blueprint.main_file_name ?? 'blueprint.yaml',
    labels: (blueprint.labels ?? []) as Labels,
  };
  if (await isThere(scope, id)) {
    ctx.logger.info(
      isExternal
        ? 'Using external blueprint.'
        : `Blueprint "${id}" exists, but external_resource is false, will use the existing one.`,
    );
    return;
  }
  if (isExternal)
    throw new FatalError(
      `Blueprint ID "${id}" does not exist on tenant "${scope.manager.tenant}", but external_resource is true.`,
    );
  if (blueprint.blueprint_archive === undefined)
    throw new FatalError('No blueprint_archive supplied, but external_resource is False');
  await upload(scope, id, blueprint, labelsOf(blueprint.labels));
}

async function upload(scope: Scope, id: string, blueprint: BlueprintConfig, labels: Labels): Promise<void> {
  const source = blueprint.blueprint_archive!;
  const params = {
    application_file_name: blueprint.main_file_name ?? 'blueprint.yaml',
    labels,
    ...(isUrl(source) ? { blueprint_archive_url: source } : {}),
  };
  const form = new FormData();
  form.set('params', JSON.stringify(params));
  if (!isUrl(source))
    form.set('blueprint_archive', new Blob([await archiveOf(scope, source)]), 'blueprint.zip');
  scope.ctx.logger.info(`Uploading blueprint "${id}" to ${scope.manager.host}`);
  try {
    await scope.manager.client.upload('uploadBlueprint', {
      params: { blueprint_id: id },
      content: form,
      signal: scope.ctx.signal,
      timeoutMs: UPLOAD_MS,
    });
  } catch (error) {
    // Two components upload the same blueprint: the second one uses the first one's upload.
    if (isRefusal(error, 'conflict_error') && (await isThere(scope, id))) return;
    if (error instanceof ApiError && error.status < 500)
      throw new FatalError(`Client action "_upload" failed: ${error.message}.`, { cause: error });
    throw error;
  }
}

/** Deletes the blueprint unless it is external; a blueprint in use stays, with a warning. Safe to repeat. */
export async function removeBlueprint(scope: Scope, blueprint: BlueprintConfig): Promise<void> {
  const { ctx, instance, manager } = scope;
  if (blueprint.external_resource) return;
  const id = blueprintIdOf(instance, blueprint);
  ctx.logger.info(`Deleting blueprint "${id}" from host ${manager.host}`);
  try {
    await manager.client.call('deleteBlueprint', { params: { blueprint_id: id } });
  } catch (error) {
    if (isMissing(error))
      ctx.logger.warning(`Blueprint "${id}" was already deleted from host ${manager.host}. Skipping.`);
    else if (isRefusal(error, 'blueprint_in_use', 'dependent_exists_error'))
      ctx.logger.warning(`Blueprint "${id}" stays: ${error.message}`);
    else throw error;
  }
}
