import { createHash } from 'node:crypto';
import type { BlobStore } from '@baton/blob-store';
import type { SealedTexts } from '@baton/cache';
import {
  type ArchiveFiles,
  choosePluginYaml,
  type Fetched,
  type Need,
  pluginLabels,
  pluginMisfit,
  selectPlugin,
} from '@baton/dsl';
import type { SafeFetch } from '@baton/http';
import { isAppError, type Log } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { Importer } from '../commands/prepare-blueprint';
import { fileContent, findFile, listPaths, listTexts } from '../store/archives.sql';
import { findImportableBlueprint } from '../store/blueprints.sql';
import { findPluginYamls, listPluginNames, listPluginsNamed } from '../store/plugins.sql';
import type { DB } from '../store/tables.gen';
import type { ImportSources } from './blueprint-parser';

export interface SourceDeps {
  db: Pick<Db<DB>, 'query'>;
  blobs: BlobStore;
  /** Cache of texts, shared with other replicas; sealed, because others can reach its server too. */
  texts: SealedTexts;
  fetch: SafeFetch;
  /** Longest time of a download; imports have at most `IMPORT_MS`. */
  downloadMs: number;
  log: Log;
}

const MAX_IMPORT_BYTES = 4 * 1024 * 1024;
const IMPORT_MS = 15_000;
const CACHE_MS = 600_000;
/** Most names with which an unknown name is compared for a suggestion. */
const MAX_NAMES = 500;

/** Whether the text is a page for browsers (a login, an error) instead of a document: no YAML mapping begins like this. */
const isPage = (text: string): boolean => text.trimStart().startsWith('<');

async function readUrl({ texts, fetch, downloadMs, log }: SourceDeps, url: string): Promise<Fetched> {
  // The URL may contain a token: only its hash is used as a key.
  const key = `import:${createHash('sha256').update(url).digest('hex')}`;
  const known = await texts.get(key);
  if (known !== null) return { kind: 'text', text: known };
  const unreadable = (reason: string): Fetched => {
    log.info({ reason }, 'import not fetched');
    return { kind: 'unreadable', reason };
  };
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of await fetch(url, {
      maxBytes: MAX_IMPORT_BYTES,
      totalMs: Math.min(IMPORT_MS, downloadMs),
      field: 'imports',
    }))
      chunks.push(chunk);
  } catch (error) {
    // Any error that is not a refusal or failure of the download is a fault of the manager.
    if (!isAppError(error)) throw error;
    return unreadable(typeof error.details.reason === 'string' ? error.details.reason : error.message);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (isPage(text)) return unreadable('the server answered with a page for people (HTML), not with YAML');
  // Cached only when it is complete.
  await texts.set(key, text, CACHE_MS);
  return { kind: 'text', text };
}

async function readPlugin(
  { db }: Pick<SourceDeps, 'db'>,
  need: Need & { kind: 'plugin' },
  importer: Importer,
): Promise<Fetched> {
  const installed = (await listPluginsNamed(db.query, importer, need.name)).map((p) => ({
    ...p,
    name: p.package_name,
    version: p.package_version ?? '',
  }));
  const asked = { ...need, version: importer.versions?.get(need.name) ?? need.version };
  const chosen = selectPlugin(asked, installed);
  if (chosen === null) {
    if (installed.length > 0) return { kind: 'unreadable', reason: pluginMisfit(asked, installed) };
    const names = await listPluginNames(db.query, importer, MAX_NAMES);
    return { kind: 'unreadable', reason: `no plugin "${need.name}" is installed`, valid: names };
  }
  const yamls = await findPluginYamls(db.query, chosen.id);
  const names = yamls.map((y) => y.file_name);
  const file = choosePluginYaml(names, need.dsl);
  const yaml = yamls.find((y) => y.file_name === file);
  if (yaml === undefined)
    return {
      kind: 'unreadable',
      reason: `${need.name} ${chosen.version} has ${names.length === 0 ? 'no yaml' : `no one yaml for blueprints of version ${need.dsl}, only ${names.join(', ')}`}`,
    };
  return {
    kind: 'plugin',
    text: yaml.content,
    labels: pluginLabels(chosen.labels),
    blueprintLabels: pluginLabels(chosen.blueprint_labels),
    resourceTags: (chosen.resource_tags ?? {}) as Record<string, string>,
  };
}

/** Reads imports from the database, the blob store and the network. */
export function createImportSources(deps: SourceDeps): ImportSources {
  const { db, blobs } = deps;
  const archive = async (digest: string): Promise<ArchiveFiles> => ({
    paths: await listPaths(db.query, digest),
    texts: await listTexts(db.query, digest, MAX_IMPORT_BYTES, (blob) => blobs.open(blob)),
  });
  return {
    archive,
    file: async (digest, path) => {
      const file = await findFile(db.query, digest, path);
      if (file === null || file.size > MAX_IMPORT_BYTES) return null;
      return (await fileContent(file, (blob) => blobs.open(blob))).toString('utf8');
    },
    url: (url) => readUrl(deps, url),
    plugin: (need, importer) => readPlugin(deps, need, importer),
    blueprint: async (id, importer): Promise<Fetched> => {
      const found = await findImportableBlueprint(db.query, importer, id);
      return found === null
        ? null
        : { kind: 'blueprint', mainFile: found.main_file_name, files: await archive(found.archive_digest) };
    },
  };
}
