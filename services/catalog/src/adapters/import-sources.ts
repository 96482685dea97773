import { createHash } from 'node:crypto';
import type { BlobStore } from '@baton/blob-store';
import type { Cache } from '@baton/cache';
import { choosePluginYaml, selectPlugin } from '@baton/dsl';
import type { SafeFetch } from '@baton/http';
import type { Log } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { ArchiveFiles, Fetched } from '../parse/protocol';
import { fileContent, findFile, listPaths, listTexts } from '../store/archives.sql';
import { findImportableBlueprint } from '../store/blueprints.sql';
import { findPluginYamls, listPluginsNamed } from '../store/plugins.sql';
import type { DB } from '../store/tables.gen';
import type { ImportSources } from './blueprint-parser';

export interface SourceDeps {
  db: Db<DB>;
  blobs: BlobStore;
  cache: Cache;
  fetch: SafeFetch;
  /** Longest time of a download; imports have at most `IMPORT_MS`. */
  downloadMs: number;
  log: Log;
}

const MAX_IMPORT_BYTES = 4 * 1024 * 1024;
const IMPORT_MS = 15_000;
const CACHE_MS = 600_000;

/** A page for people (a login, an error) where a document was expected: no YAML mapping begins like this. */
const isPage = (text: string): boolean => text.trimStart().startsWith('<');

async function readUrl({ cache, fetch, downloadMs, log }: SourceDeps, url: string): Promise<string | null> {
  // The address may carry a token: only its hash becomes a key.
  const key = `import:${createHash('sha256').update(url).digest('hex')}`;
  const known = await cache.get(key);
  if (known !== null) return known;
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of await fetch(url, {
      maxBytes: MAX_IMPORT_BYTES,
      totalMs: Math.min(IMPORT_MS, downloadMs),
      field: 'imports',
    }))
      chunks.push(chunk);
  } catch (error) {
    log.info({ reason: (error as Error).message }, 'import not fetched');
    return null;
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (isPage(text)) {
    log.info({ reason: 'the answer is a page' }, 'import not fetched');
    return null;
  }
  // Cached only when whole.
  await cache.set(key, text, CACHE_MS);
  return text;
}

const wrap = (labels: unknown): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries((labels ?? {}) as Record<string, { values?: string[] } | string[]>).map(([k, v]) => [
      k,
      Array.isArray(v) ? v : (v.values ?? []),
    ]),
  );

/** Imports from the database, the blob store and the network. */
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
    plugin: async (need, importer) => {
      const installed = await listPluginsNamed(db.query, importer, need.name);
      const version = importer.versions?.get(need.name) ?? need.version;
      const chosen = selectPlugin(
        { ...need, version },
        installed.map((p) => ({ ...p, name: p.package_name, version: p.package_version ?? '' })),
      );
      if (chosen === null) return null;
      const yamls = await findPluginYamls(db.query, chosen.id);
      const file = choosePluginYaml(
        yamls.map((y) => y.file_name),
        need.dsl,
      );
      const yaml = yamls.find((y) => y.file_name === file);
      if (yaml === undefined) return null;
      const tags = (chosen.resource_tags ?? {}) as Record<string, string>;
      return {
        kind: 'plugin',
        text: yaml.content,
        labels: wrap(chosen.labels),
        blueprintLabels: wrap(chosen.blueprint_labels),
        resourceTags: tags,
      };
    },
    blueprint: async (id, importer): Promise<Fetched> => {
      const found = await findImportableBlueprint(db.query, importer, id);
      return found === null
        ? null
        : { kind: 'blueprint', mainFile: found.main_file_name, files: await archive(found.archive_digest) };
    },
  };
}
