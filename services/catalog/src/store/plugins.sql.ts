import type { Visibility } from '@baton/contracts';
import type { JsonObject } from '@baton/kernel';
import { type Db, isGlobal as isGlobalRow, type Tx, type Viewer, visibleTo } from '@baton/postgres';
import { sql } from 'kysely';
import type { PluginExtras, PluginPackage, PluginYaml } from '../domain/plugin-package';
import { noteResources, OWNED } from './noted-resources.sql';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;
/**
 * Locks a package. Packages are unique within a tenant and against global ones: every transaction that adds or widens one holds
 * this lock.
 */
export async function lockPackage(tx: Tx<DB>, packageName: string, archiveName: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`plugin ${packageName} ${archiveName}`}, 0))`.execute(
    tx,
  );
}

export interface InstalledPlugin {
  id: string;
  tenant: string;
  package_name: string;
  package_version: string | null;
  archive_name: string;
  distribution: string | null;
  wagon_digest: string;
  signer_name: string | null;
  signer_state: string | null;
  labels: unknown;
  blueprint_labels: unknown;
  resource_tags: unknown;
}

const installed = [
  'id',
  'tenant',
  'package_name',
  'package_version',
  'archive_name',
  'distribution',
  'wagon_digest',
  'signer_name',
  'signer_state',
  'labels',
  'blueprint_labels',
  'resource_tags',
] as const;

/** Returns the uploaded plugins of that package that `who` may use. */
export async function listPluginsNamed(
  db: Reader,
  who: Viewer,
  packageName: string,
): Promise<InstalledPlugin[]> {
  return db
    .selectFrom('plugins')
    .select(installed)
    .where('package_name', '=', packageName)
    .where(visibleTo(who))
    .orderBy('uploaded_at', 'desc')
    .execute();
}

/** Returns the names of plugins that `who` may use, each once, at most `limit`. */
export async function listPluginNames(db: Reader, who: Viewer, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('plugins')
    .select('package_name')
    .distinct()
    .where(visibleTo(who))
    .orderBy('package_name')
    .limit(limit)
    .execute();
  return rows.map((row) => row.package_name);
}

export async function findPluginYamls(
  db: Reader,
  pluginId: string,
): Promise<{ file_name: string; content: string }[]> {
  return db
    .selectFrom('plugin_yamls')
    .select(['file_name', 'content'])
    .where('plugin_id', '=', pluginId)
    .orderBy('file_name')
    .execute();
}

export async function findPluginIcon(db: Reader, pluginId: string): Promise<Buffer | null> {
  const row = await db.selectFrom('plugins').select('icon').where('id', '=', pluginId).executeTakeFirst();
  return row?.icon ?? null;
}

export interface RivalPlugin {
  id: string;
  tenant: string;
  created_by: string;
  visibility: string;
  wagon_digest: string;
}

/** Returns the plugin whose archive exists already for `tenant`, or would conflict as a global one; null: the name is free. */
export async function rivalPackage(
  tx: Tx<DB>,
  tenant: string,
  p: { package_name: string; archive_name: string },
  isGlobal: boolean,
  exceptId: string | null,
): Promise<RivalPlugin | null> {
  const row = await tx
    .selectFrom('plugins')
    .select(['id', 'tenant', 'created_by', 'visibility', 'wagon_digest'])
    .where('package_name', '=', p.package_name)
    .where('archive_name', '=', p.archive_name)
    .where((e) => (isGlobal ? e.lit(true) : e.or([e('tenant', '=', tenant), isGlobalRow()])))
    .where((e) => (exceptId === null ? e.lit(true) : e('id', '<>', exceptId)))
    .executeTakeFirst();
  return row ?? null;
}

export interface NewPlugin extends PluginPackage, PluginExtras {
  id: string;
  tenant: string;
  created_by: string;
  /** Null: now. */
  uploaded_at: string | null;
  visibility: Visibility;
  title: string;
  wagon: { digest: string; size: number };
  archive: { digest: string; size: number } | null;
  yamls: PluginYaml[];
  icon: Buffer | null;
  signer_fingerprint: string | null;
  signer_name: string | null;
  signer_state: string | null;
  /** Whether it comes with Baton. */
  is_bundled: boolean;
}

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

export async function insertPlugin(tx: Tx<DB>, p: NewPlugin): Promise<void> {
  await insertPluginRows(tx, p);
  noteResources(tx, 'plugins', 'created', [p]);
}

/** Stores a plugin and tells nobody. */
export async function insertPluginRows(tx: Tx<DB>, p: NewPlugin): Promise<void> {
  const {
    wagon,
    archive,
    yamls,
    wheels,
    excluded_wheels,
    supported_py_versions,
    labels,
    blueprint_labels,
    resource_tags,
    uploaded_at,
    ...plain
  } = p;
  await tx
    .insertInto('plugins')
    .values({
      ...plain,
      ...(uploaded_at === null ? {} : { uploaded_at }),
      wheels: json(wheels),
      excluded_wheels: json(excluded_wheels),
      supported_py_versions: json(supported_py_versions),
      labels: json(labels),
      blueprint_labels: json(blueprint_labels),
      resource_tags: json(resource_tags),
      wagon_digest: wagon.digest,
      wagon_size: wagon.size,
      archive_digest: archive?.digest ?? null,
      archive_size: archive?.size ?? null,
    })
    .execute();
  if (yamls.length === 0) return;
  await tx
    .insertInto('plugin_yamls')
    .values(yamls.map((y) => ({ plugin_id: p.id, file_name: y.fileName, content: y.content })))
    .execute();
}

export interface PluginHead {
  id: string;
  tenant: string;
  created_by: string;
  visibility: Visibility;
  package_name: string;
  package_version: string | null;
  archive_name: string;
  wagon_digest: string;
  wagon_size: number;
  archive_digest: string | null;
  archive_size: number | null;
  uploaded_at: string;
  has_icon: boolean;
}

const hasIcon = sql<boolean>`icon is not null`.as('has_icon');
const head = [
  'uploaded_at',
  'id',
  'tenant',
  'created_by',
  'visibility',
  'package_name',
  'package_version',
  'archive_name',
  'wagon_digest',
  'wagon_size',
  'archive_digest',
  'archive_size',
] as const;

/** Returns the plugin if `who` may see it. */
export async function findPlugin(db: Reader, who: Viewer, id: string): Promise<PluginHead | null> {
  const row = await db
    .selectFrom('plugins')
    .select(head)
    .select(hasIcon)
    .where('id', '=', id)
    .where(visibleTo(who))
    .executeTakeFirst();
  return (row as PluginHead | undefined) ?? null;
}

export async function lockPlugin(tx: Tx<DB>, id: string): Promise<PluginHead | null> {
  const row = await tx
    .selectFrom('plugins')
    .select(head)
    .select(hasIcon)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  return (row as PluginHead | undefined) ?? null;
}

export async function updatePlugin(
  tx: Tx<DB>,
  id: string,
  changes: { visibility?: Visibility; created_by?: string } & Partial<
    Record<keyof PluginExtras, JsonObject | null>
  >,
): Promise<void> {
  const { visibility, created_by, ...extras } = changes;
  const columns = Object.fromEntries(
    Object.entries(extras).map(([key, value]) => [key, json(value ?? null)]),
  );
  const changed = await tx
    .updateTable('plugins')
    .set({ ...(visibility ? { visibility } : {}), ...(created_by ? { created_by } : {}), ...columns })
    .where('id', '=', id)
    .returning(OWNED)
    .execute();
  noteResources(tx, 'plugins', 'changed', changed);
}

export async function deletePlugin(tx: Tx<DB>, id: string): Promise<void> {
  const deleted = await tx.deleteFrom('plugins').where('id', '=', id).returning(OWNED).execute();
  noteResources(tx, 'plugins', 'deleted', deleted);
}

/** Returns blueprints whose plan uses the package in that version: of the tenant, or of any tenant for a global plugin. */
export async function listPluginUsers(
  db: Reader,
  p: Pick<PluginHead, 'tenant' | 'visibility' | 'package_name' | 'package_version'>,
): Promise<string[]> {
  const rows = await db
    .selectFrom('blueprint_uses')
    .select('blueprint_id')
    .where('kind', '=', 'plugin')
    .where('name', '=', p.package_name)
    .where('version', '=', p.package_version ?? '')
    .where((e) => (p.visibility === 'global' ? e.lit(true) : e('tenant', '=', p.tenant)))
    .limit(20)
    .execute();
  return rows.map((r) => r.blueprint_id);
}

/** Marks targets for installation; targets that are installed or being installed stay unchanged. */
export async function requestInstallation(
  tx: Tx<DB>,
  plugin: PluginHead,
  targets: readonly { kind: 'manager' | 'agent'; name: string }[],
): Promise<void> {
  if (targets.length === 0) return;
  await tx
    .insertInto('plugin_installations')
    .values(
      targets.map((t) => ({
        plugin_id: plugin.id,
        target_kind: t.kind,
        target: t.name,
        state: 'pending-install',
      })),
    )
    .onConflict((c) =>
      c
        .columns(['plugin_id', 'target_kind', 'target'])
        .doUpdateSet({ state: 'pending-install', error: null })
        .where('plugin_installations.state', 'in', [
          'error',
          'pending-uninstall',
          'uninstalling',
          'uninstalled',
        ]),
    )
    .execute();
  noteResources(tx, 'plugins', 'changed', [plugin]);
}

export interface ImportedPluginHere {
  id: string;
  tenant: string;
  visibility: Visibility;
  archive_name: string;
  wagon_digest: string;
  archive_digest: string | null;
}

/** Plugins of all tenants with this id, or with this package and archive name. */
export async function pluginsLike(
  tx: Tx<DB>,
  p: { id: string; package_name: string; archive_name: string },
): Promise<ImportedPluginHere[]> {
  const rows = await tx
    .selectFrom('plugins')
    .select(['id', 'tenant', 'visibility', 'archive_name', 'wagon_digest', 'archive_digest'])
    .where((e) =>
      e.or([
        e('id', '=', p.id),
        e.and([e('package_name', '=', p.package_name), e('archive_name', '=', p.archive_name)]),
      ]),
    )
    .execute();
  return rows as ImportedPluginHere[];
}

/** Deletes a plugin and tells nobody. */
export async function deletePluginRows(tx: Tx<DB>, id: string): Promise<void> {
  await tx.deleteFrom('plugins').where('id', '=', id).execute();
}
