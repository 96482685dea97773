import { isAppError, isJsonObject, type Json } from '@baton/kernel';
import { FatalError, isMarkedError } from '@baton/plugin-sdk';
import { type ArchivePlace, archivePlace } from './archive-place';
import { isMissing } from './failures';
import type { Scope } from './scope';
import { zipOf } from './zip';

/** Limits of a folder that is packed in memory, and of an archive of another blueprint. */
const MAX_FILES = 2_000;
const MAX_BYTES = 64 * 1024 * 1024;

export function isUrl(source: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(source);
}

/**
 * Returns the archive that `path` names from the parent's blueprint: a file as it is, a folder as a zip with the folder on top. It may
 * lie in another blueprint of the tenant, or be the uploaded archive of one (`archivePlace`). Everything is read with the rights of
 * the user who started the execution.
 * @throws FatalError when the path is none of these, or leads elsewhere.
 */
export async function archiveOf(scope: Scope, path: string): Promise<Uint8Array> {
  const { ctx } = scope;
  const place = archivePlace(path, ctx.tenant, ctx.blueprint.id);
  if (place === null)
    throw new FatalError(
      `blueprint_archive: ${path} leads out of the blueprints of the tenant ${ctx.tenant}, or names none of their files`,
    );
  if (place.kind === 'uploaded') return await fileOf(path, () => uploaded(scope, place));
  const files = await filesBelow(scope, place);
  if (files.length === 0) return await fileOf(path, () => unpacked(scope, place, place.path));
  return await packed(scope, path, place, files);
}

async function packed(
  scope: Scope,
  path: string,
  place: Extract<ArchivePlace, { kind: 'unpacked' }>,
  files: readonly string[],
): Promise<Uint8Array> {
  if (files.length > MAX_FILES)
    throw new FatalError(`${path} has ${files.length} files, more than ${MAX_FILES}: pack it as a zip`);
  scope.ctx.logger.info(`Packing folder ${path.replace(/\/+$/, '')} with ${files.length} files`);
  let size = 0;
  const entries: { name: string; content: Uint8Array }[] = [];
  for (const file of files) {
    const content = await unpacked(scope, place, `${place.path}/${file}`);
    size += content.byteLength;
    if (size > MAX_BYTES) throw new FatalError(`${path} is larger than ${MAX_BYTES} bytes: pack it as a zip`);
    entries.push({ name: `blueprint/${file}`, content });
  }
  return await zipOf(entries);
}

async function fileOf(path: string, read: () => Promise<Uint8Array>): Promise<Uint8Array> {
  try {
    return await read();
  } catch (error) {
    // Errors of the worker's own resources, and of the manager.
    const isAbsent = isMarkedError(error) || isAppError(error, 'not_found_error') || isMissing(error);
    if (!isAbsent || error instanceof TooLarge) throw error;
    throw new FatalError(
      `blueprint_archive: ${path} is no URL, and no file or folder of a blueprint that the execution may read`,
      { cause: error },
    );
  }
}

/** A file of an unpacked blueprint: of the parent's own from the worker, of another one from the manager. */
async function unpacked(
  { ctx, own }: Scope,
  { blueprintId }: Pick<ArchivePlace, 'blueprintId'>,
  path: string,
): Promise<Uint8Array> {
  if (blueprintId === ctx.blueprint.id) return await ctx.getResource(path);
  const params = { tenant_name: ctx.tenant, blueprint_id: blueprintId, rest: path };
  return await bytesOf(
    await own.client.download('getBlueprintResource', { params, signal: ctx.signal }),
    path,
  );
}

async function uploaded(
  { ctx, own }: Scope,
  { blueprintId, fileName }: Extract<ArchivePlace, { kind: 'uploaded' }>,
): Promise<Uint8Array> {
  const params = { tenant_name: ctx.tenant, blueprint_id: blueprintId, file_name: fileName };
  const archive = await own.client.download('getUploadedBlueprint', { params, signal: ctx.signal });
  return await bytesOf(archive, fileName);
}

class TooLarge extends FatalError {}

async function bytesOf({ body }: { body: ReadableStream<Uint8Array> }, name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new TooLarge(`blueprint_archive: ${name} is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Paths of all files below a folder of an unpacked blueprint, relative to the folder; none when it is no folder. */
async function filesBelow(
  { own, ctx }: Scope,
  { blueprintId, path }: Extract<ArchivePlace, { kind: 'unpacked' }>,
): Promise<string[]> {
  try {
    const listing = (await own.client.call('getBlueprintResource', {
      params: { tenant_name: ctx.tenant, blueprint_id: blueprintId, rest: `${path}/` },
    })) as Json;
    return isJsonObject(listing) ? Object.keys(listing) : [];
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
