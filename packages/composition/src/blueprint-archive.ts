import { isAppError, isJsonObject, type Json } from '@baton/kernel';
import { FatalError, isMarkedError } from '@baton/plugin-sdk';
import { isMissing } from './failures';
import type { Scope } from './scope';
import { zipOf } from './zip';

/** A folder of the parent is packed in memory: no more than this. */
const MAX_FILES = 2_000;
const MAX_BYTES = 64 * 1024 * 1024;

export function isUrl(source: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(source);
}

/**
 * An archive inside the parent's blueprint: a file as it is, a folder as a zip with the folder on top.
 * @throws FatalError when there is neither.
 */
export async function archiveOf(scope: Scope, path: string): Promise<Uint8Array> {
  const { ctx } = scope;
  const folder = path.replace(/\/+$/, '');
  const files = await filesBelow(scope, folder);
  if (files.length === 0) return await fileOf(scope, path);
  if (files.length > MAX_FILES)
    throw new FatalError(`${path} has ${files.length} files, more than ${MAX_FILES}: pack it as a zip`);
  ctx.logger.info(`Packing folder ${folder} with ${files.length} files`);
  let size = 0;
  const entries: { name: string; content: Uint8Array }[] = [];
  for (const file of files) {
    const content = await ctx.getResource(`${folder}/${file}`);
    size += content.byteLength;
    if (size > MAX_BYTES) throw new FatalError(`${path} is larger than ${MAX_BYTES} bytes: pack it as a zip`);
    entries.push({ name: `blueprint/${file}`, content });
  }
  return await zipOf(entries);
}

async function fileOf({ ctx }: Scope, path: string): Promise<Uint8Array> {
  try {
    return await ctx.getResource(path);
  } catch (error) {
    if (!isMarkedError(error) && !isAppError(error, 'not_found_error')) throw error;
    throw new FatalError(
      `blueprint_archive: ${path} is no URL, and no file or folder of the parent's blueprint`,
      {
        cause: error,
      },
    );
  }
}

/** Paths of all files below a folder of the parent's blueprint, from there on; none when it is no folder. */
async function filesBelow({ own, ctx }: Scope, folder: string): Promise<string[]> {
  try {
    const listing = (await own.client.call('getBlueprintResource', {
      params: { tenant_name: ctx.tenant, blueprint_id: ctx.blueprint.id, rest: `${folder}/` },
    })) as Json;
    return isJsonObject(listing) ? Object.keys(listing) : [];
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
