import { makeRecord } from '../model/make-record';
import type { ArchiveRecord } from '../model/record';
import type { Tally } from '../model/tally';
import { isRecordType, MANAGER_TYPES, type RecordType, TENANT_TYPES } from '../model/types';
import type { Archive } from '../open-archive';
import { blobOf } from './blobs';
import { listPages, type Page } from './list-pages';
import { normalize } from './normalize';
import { readItems } from './read-items';
import { RepeatedEvents, Replaced } from './repeats';

interface Context {
  archive: Archive;
  tally: Tally;
  /** By type and tenant. */
  pages: ReadonlyMap<string, readonly Page[]>;
}

const pagesKey = (tenant: string | null, type: string): string => `${type}/${tenant ?? ''}`;

/**
 * Records of the new layout and of that of November 2022, in restore order. Every page is read two or three times: its head, the
 * ids of its items, and its items. Nothing but the ids of one type of one tenant is held.
 */
export async function* readPages(archive: Archive, tally: Tally): AsyncGenerator<ArchiveRecord, void, void> {
  const all = await listPages(archive);
  const pages = new Map<string, Page[]>();
  for (const page of all) {
    if (!isRecordType(page.type)) await skipUnknown(archive, page, tally);
    const key = pagesKey(page.tenant, page.type);
    const list = pages.get(key);
    if (list) list.push(page);
    else pages.set(key, [page]);
  }
  const context = { archive, tally, pages };
  const named = new Set<string>();
  for (const type of MANAGER_TYPES) {
    for await (const record of readType(context, null, type)) {
      if (record.type === 'tenants') named.add(record.item.name);
      yield record;
    }
  }
  for (const [tenant, file] of tenantFolders(archive)) {
    if (named.has(tenant)) continue;
    named.add(tenant);
    const message = 'the tenant has a folder, but is not among the tenants of the archive';
    const notes = [{ code: 'lossy-source' as const, path: 'name', message }];
    const made = {
      type: 'tenants' as const,
      tenant: null,
      raw: { name: tenant },
      notes,
      place: { file },
      blob: null,
    };
    const record = makeRecord(made, tally);
    if (record) yield record;
  }
  for (const tenant of named) for (const type of TENANT_TYPES) yield* readType(context, tenant, type);
}

/** Tenants that have a folder, with its first entry. An empty folder is the only sign of an empty tenant. */
function tenantFolders(archive: Archive): Map<string, string> {
  const folders = new Map<string, string>();
  for (const file of archive.entries.keys()) {
    const tenant = /^tenants\/([^/]+)\//.exec(file)?.[1];
    if (tenant !== undefined && !folders.has(tenant)) folders.set(tenant, file);
  }
  return folders;
}

async function skipUnknown(archive: Archive, page: Page, tally: Tally): Promise<void> {
  let items = 0;
  for await (const _ of readItems(archive, page.file)) items++;
  const type = page.type.slice(0, 100);
  const message = `a type that no release of Cloudify 5.0.5 to 7.1 writes, with ${items} items`;
  tally.skipMany({ type, reason: 'unknown-type' }, items - 1);
  tally.skip({ type, tenant: page.tenant, reason: 'unknown-type', message, place: { file: page.file } });
}

async function* readType(
  { archive, tally, pages }: Context,
  tenant: string | null,
  type: RecordType,
): AsyncGenerator<ArchiveRecord, void, void> {
  const own = pages.get(pagesKey(tenant, type)) ?? [];
  if (own.length === 0) return;
  const inOrder = type === 'events' ? bySource(own) : own;
  const repeats =
    type === 'events'
      ? new RepeatedEvents(inOrder, archive.limits.maxIndexEntries)
      : await Replaced.of(archive, type, inOrder);
  for (const page of inOrder) {
    for await (const { raw, text, notes, place } of readItems(archive, page.file)) {
      const again = repeats.check(page, text);
      if (again) {
        tally.skip({ type, tenant, place, ...again });
        continue;
      }
      const normal = normalize(type, raw, page, notes);
      const blob = blobOf(archive, type, tenant, normal.id);
      const record = makeRecord({ type, tenant, raw: normal, notes, place, blob }, tally);
      if (record) yield record;
    }
  }
}

/** Events of one source together, so that only those are remembered. */
function bySource(pages: readonly Page[]): Page[] {
  const groups = new Map<string, Page[]>();
  for (const page of pages) {
    const key = `${page.source}/${page.sourceId}`;
    const list = groups.get(key);
    if (list) list.push(page);
    else groups.set(key, [page]);
  }
  return [...groups.values()].flat();
}
