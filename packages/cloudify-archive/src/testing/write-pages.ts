import type { Item, RecordType } from '../model/types';
import { MANAGER_TYPES, TENANT_TYPES } from '../model/types';
import { exactJson, type Value, type ValueObject } from '../value';
import type { Estate, Items } from './estate';
import { SNAPSHOT_EXECUTION } from './estate';
import { MADE_BY, zipBytes } from './zip-bytes';

export interface PageOptions {
  layout?: 'new' | 'early';
  pageSize?: number;
  /** Pages that are appended to a tenant, as those of objects that changed while the snapshot was written. */
  appended?: Record<string, ValueObject[]>;
}

type Entry = readonly [string, Buffer];
const jsonOf = (value: Value): Buffer => Buffer.from(exactJson(value));

/** An archive of the layout of 7.0 and 7.1, or of November 2022. */
export async function pagesArchive(estate: Estate, options: PageOptions = {}): Promise<Buffer> {
  return zipBytes(await pageEntries(estate, options));
}

/** The entries of such an archive, for tests that change some of them. */
export async function pageEntries(estate: Estate, options: PageOptions = {}): Promise<Map<string, Buffer>> {
  const entries = new Map<string, Buffer>();
  for (const folder of ['composer/', 'stage/']) entries.set(folder, Buffer.alloc(0));
  for (const [name, content] of foldersOf('mgmt', estate.manager, MANAGER_TYPES, options))
    entries.set(name, content);
  for (const [tenant, items] of Object.entries(estate.tenants)) {
    entries.set(`tenants/${tenant}/`, Buffer.alloc(0));
    for (const [name, content] of foldersOf(
      `tenants/${tenant}`,
      items,
      TENANT_TYPES,
      options,
      options.appended?.[tenant],
    ))
      entries.set(name, content);
  }
  for (const [name, content] of await blobEntries(estate, options.layout ?? 'new'))
    entries.set(name, content);
  // Last, as zips of folders may have it.
  entries.set('README.txt', Buffer.from(`${MADE_BY}\n`));
  entries.set(
    'metadata.json',
    jsonOf({ snapshot_version: '7.0.0', execution_id: SNAPSHOT_EXECUTION, made_by: MADE_BY }),
  );
  return entries;
}

interface PageHead {
  type: string;
  source?: string;
  source_id?: string;
}

function foldersOf(
  folder: string,
  items: Items,
  types: readonly RecordType[],
  options: PageOptions,
  appended: ValueObject[] = [],
): Entry[] {
  const pages: ValueObject[] = [];
  for (const type of types) {
    const all = (items[type] ?? []) as Item<RecordType>[];
    for (const [head, raws] of grouped(type, all as unknown as ValueObject[])) {
      const size = options.pageSize ?? 500;
      for (let at = 0; at < raws.length; at += size)
        pages.push({ ...head, items: raws.slice(at, at + size) });
    }
  }
  const numbered = [...pages, ...appended];
  return numbered.map((page, i) => [
    fileOf(folder, page, i, options.layout ?? 'new'),
    jsonOf(headed(page, options)),
  ]);
}

function fileOf(folder: string, page: ValueObject, index: number, layout: 'new' | 'early'): string {
  if (layout === 'new') return `${folder}/${String(index + 1).padStart(8, '0')}.json`;
  const type = page.type === 'events' ? `${String(page.source)}_events` : String(page.type);
  return `${folder}/${type}/${String(page.source_id ?? 0)}.json`;
}

/** The layout of 2022 has neither source nor source_id in the page. */
function headed(page: ValueObject, { layout }: PageOptions): ValueObject {
  if (layout !== 'early') return page;
  return { type: page.type === 'events' ? `${String(page.source)}_events` : page.type!, items: page.items! };
}

/** Items as an original writes them, with what their page says of them. */
function grouped(type: RecordType, items: ValueObject[]): [PageHead & ValueObject, ValueObject[]][] {
  const groups = new Map<string, [PageHead & ValueObject, ValueObject[]]>();
  for (const item of items) {
    const head: PageHead = { type, ...sourceOf(type, item) };
    const key = JSON.stringify(head);
    if (!groups.has(key)) groups.set(key, [head as PageHead & ValueObject, []]);
    groups.get(key)![1].push(originalOf(type, item));
  }
  return [...groups.values()];
}

function sourceOf(type: RecordType, item: ValueObject): Omit<PageHead, 'type'> {
  if (type === 'nodes' || type === 'node_instances' || type === 'agents')
    return { source_id: String(item.deployment_id) };
  if (type === 'tasks_graphs') return { source_id: String(item.execution_id) };
  if (type !== 'events') return {};
  return item.execution_id === null
    ? { source: 'execution_groups', source_id: String(item.execution_group_id) }
    : { source: 'executions', source_id: String(item.execution_id) };
}

/** Fields that the pages of an original do not have. */
const ABSENT: Partial<Record<RecordType, readonly string[]>> = {
  nodes: ['deployment_id'],
  node_instances: ['deployment_id', 'version'],
  agents: ['deployment_id', 'updated_at'],
  deployments: ['site_name', 'updated_at'],
  blueprints: ['updated_at'],
  executions: ['scheduled_for', 'resume', 'total_operations', 'finished_operations', 'blueprint_id'],
  events: ['execution_id', 'execution_group_id', 'message_code'],
  execution_groups: ['success_group_id', 'failure_group_id'],
  execution_schedules: ['next_occurrence', 'latest_execution_id'],
};

function originalOf(type: RecordType, item: ValueObject): ValueObject {
  const raw: ValueObject = { ...item };
  for (const field of ABSENT[type] ?? []) delete raw[field];
  if (type === 'tenants') raw.rabbitmq_password = 'canary-broker';
  if (type === 'users') {
    const { tenants, groups, ...rest } = raw;
    const names = Array.isArray(groups) ? groups : [];
    return {
      ...rest,
      tenant_roles: { direct: tenants!, groups: names.length > 0 ? { second: { viewer: names } } : {} },
    };
  }
  if (type === 'secrets') {
    const { created_by: creator, provider_name: provider, schema: _, updated_at: __, ...rest } = raw;
    return {
      ...rest,
      creator: creator!,
      provider: provider!,
      encrypted: false,
      tenant_name: 'default_tenant',
    };
  }
  return raw;
}

async function blobEntries(estate: Estate, layout: 'new' | 'early'): Promise<Entry[]> {
  const entries: Entry[] = [];
  const ending = layout === 'new' ? '' : '_archives';
  for (const [key, files] of Object.entries(estate.blobs)) {
    const [type, tenant, id] = key.split('/') as [string, string, string];
    const place = `tenants/${tenant}/${type}${ending}/${id}`;
    if (type === 'blueprints') entries.push([`${place}.tar.gz`, Object.values(files)[0]!]);
    else {
      const zip = await zipBytes(Object.entries(files));
      entries.push(
        type === 'plugins' ? [`${place}.zip`, zip] : [`${place}.b64zip`, Buffer.from(zip.toString('base64'))],
      );
    }
  }
  return entries;
}
