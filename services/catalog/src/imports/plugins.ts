import {
  type Fate,
  type ImportContext,
  type Importer,
  joined,
  lost,
  metFate,
  roomFor,
  type Told,
  takeValid,
} from '@baton/import-part';
import { canonicalJson, isAppError } from '@baton/kernel';
import type { Spool } from '../archive/spool';
import { judgedSigner } from '../commands/judge-signer';
import { type PluginDeps, preparePlugin } from '../commands/upload-plugin';
import {
  deletePluginRows,
  type ImportedPluginHere,
  insertPluginRows,
  lockPackage,
  pluginsLike,
} from '../store/plugins.sql';
import { holdBlobs, spoolBlob } from './blobs';
import { type PluginRecord, pluginRecord } from './records';
import { sessionQuery } from './session-query';

export type PluginImportDeps = Pick<
  PluginDeps,
  'db' | 'blobs' | 'clock' | 'pool' | 'pluginLimits' | 'bundledFolder' | 'requiresSignatures'
>;

/** Who owns what has no owner in the archive. */
const NO_OWNER = 'admin';
/** Versions of Python that no worker has. Wheels for a later one may work, if they hold no compiled code. */
const OLD_PYTHON = /^(py|cp)(2\d*|3[0-6])$/;

/** Plugins with their archives, stored as an upload stores them. */
export function pluginsImporter(deps: PluginImportDeps): Importer {
  return {
    type: 'plugins',
    take: (context, records) =>
      takeValid(records, pluginRecord, 'id', async (valid) => {
        await holdBlobs(
          deps,
          context.importId,
          valid.flatMap(({ archive }) => (archive ? [archive.digest] : [])),
        );
        const fates: Fate[] = [];
        for (const record of valid) fates.push(await takePlugin(deps, context, record));
        return fates;
      }),
  };
}

const nameOf = ({ id, package_name: name, package_version: version }: PluginRecord): string =>
  name ? `${name} ${version ?? ''}`.trim() : id;

async function takePlugin(
  deps: PluginImportDeps,
  context: ImportContext,
  record: PluginRecord,
): Promise<Fate> {
  const id = nameOf(record);
  if (!record.archive)
    return lost(id, 'archive_missing', 'the archive of the manager has no file of this plugin');
  try {
    const archive = await spoolBlob(deps.blobs, record.archive.digest, deps.pluginLimits.maxArchiveBytes);
    try {
      return await storePlugin(deps, context, record, archive);
    } finally {
      await archive.dispose();
    }
  } catch (error) {
    // What a user would be told by an upload; faults of the manager go on.
    if (
      !isAppError(error) ||
      error.code === 'internal_server_error' ||
      error.code === 'service_unavailable_error'
    )
      throw error;
    return lost(id, 'plugin_refused', error.message.slice(0, 1_000));
  }
}

async function storePlugin(
  deps: PluginImportDeps,
  context: ImportContext,
  record: PluginRecord,
  archive: Spool,
): Promise<Fate> {
  const id = nameOf(record);
  const { upload, ...plugin } = await preparePlugin(deps, archive);
  const found = upload.package;
  const tx = sessionQuery(context.client);
  if (!context.isRehearsal) await lockPackage(tx, found.package_name, found.archive_name);
  const rows = await pluginsLike(tx, { id: record.id, ...found });
  const own = rows.find((row) => row.tenant === context.tenant && row.archive_name === found.archive_name);
  if (rows.some((row) => row.id === record.id && row !== own))
    return lost(id, 'id_taken', 'another plugin has its id here');
  const room = roomFor(
    id,
    record.visibility,
    rows.filter((row) => row.tenant !== context.tenant),
  );
  if ('fate' in room) return room.fate;
  const fate: Fate = own
    ? metFate(context, {
        id,
        met: canonicalJson(own),
        isSame: isSame(own, plugin, room.visibility),
        what: 'a plugin of this package',
      })
    : { id, fate: 'imported', ...joined(room.told, oldPython(found.supported_py_versions)) };
  if (fate.fate !== 'imported' && fate.fate !== 'replaced') return fate;
  const signer = await judgedSigner(deps, tx, context.tenant, upload);
  if (own) await deletePluginRows(tx, own.id);
  await insertPluginRows(tx, {
    ...signer,
    ...found,
    ...plugin,
    id: record.id,
    tenant: context.tenant,
    created_by: record.created_by ?? NO_OWNER,
    uploaded_at: record.uploaded_at ?? null,
    visibility: room.visibility,
    title: record.title ?? found.package_name,
  });
  return fate;
}

const isSame = (
  own: ImportedPluginHere,
  { wagon, archive }: { wagon: { digest: string }; archive: { digest: string } | null },
  visibility: string,
): boolean =>
  own.wagon_digest === wagon.digest &&
  own.archive_digest === (archive?.digest ?? null) &&
  own.visibility === visibility;

/** A wagon holds compiled parts of one version of Python. */
function oldPython(versions: readonly string[] | null): Told {
  if (versions === null || versions.length === 0 || !versions.every((version) => OLD_PYTHON.test(version)))
    return {};
  return {
    code: 'wagon_not_runnable',
    text: `its wagon is for ${versions.join(', ')}, which workers do not have: upload one for a newer Python`,
  };
}
