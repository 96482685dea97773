import { ArchiveRefused } from '../archive-refused';
import { PageScanner } from '../json/page-scanner';
import type { Archive } from '../open-archive';

/** A JSON file of the new layouts, without its items. */
export interface Page {
  file: string;
  /** Null for pages of the manager. */
  tenant: string | null;
  /** As the file says. */
  type: string;
  /** `executions` or `execution_groups`, for events. */
  source: string | null;
  /** What the items belong to: a deployment, an execution. */
  sourceId: string | null;
}

const IN_PAGES = /^(?:mgmt|tenants\/([^/]+))\/(?:([a-z_]+)\/)?([^/]+)\.json$/;
/** Pages of the layout of November 2022 name their source by the file: tenants/t/nodes/deployment.json. */
const FILE_IS_SOURCE = new Set([
  'nodes',
  'node_instances',
  'agents',
  'tasks_graphs',
  'executions_events',
  'execution_groups_events',
]);

/** All pages, in the order in which they were written: a later page replaces items of an earlier one. */
export async function listPages(archive: Archive): Promise<Page[]> {
  const files = [...archive.entries.keys()]
    .map((file) => IN_PAGES.exec(file))
    .filter((found) => found !== null)
    .sort((a, b) => inOrder(a[0], b[0]));
  const pages: Page[] = [];
  for (const [file, tenant, folder, base] of files) {
    const head = await readHead(archive, file);
    const type = head.get('type') ?? folder;
    if (type === undefined) throw new ArchiveRefused('layout', 'the page does not say its type', { file });
    const isSource = folder !== undefined && FILE_IS_SOURCE.has(type) && !/^\d+$/.test(base!);
    pages.push({
      file,
      tenant: tenant ?? null,
      ...sourceOf(type, head),
      sourceId: head.get('source_id') ?? (isSource ? base! : null),
    });
  }
  return pages;
}

/** Numbers in names count as numbers: page 10 comes after page 9. */
const { compare: inOrder } = new Intl.Collator('en', { numeric: true });

function sourceOf(type: string, head: ReadonlyMap<string, string>): Pick<Page, 'type' | 'source'> {
  const early = /^(executions|execution_groups)_events$/.exec(type);
  return early ? { type: 'events', source: early[1]! } : { type, source: head.get('source') ?? null };
}

/** Members of a page that are texts. Stops at the items where the type came before them, as originals write it. */
async function readHead(archive: Archive, file: string): Promise<Map<string, string>> {
  const { maxItemBytes, maxDepth } = archive.limits;
  const scanner = new PageScanner(file, { maxItemBytes, maxDepth, keepItems: false });
  const head = new Map<string, string>();
  for await (const piece of archive.read(file)) {
    for (const found of scanner.push(piece)) {
      if (found.kind !== 'member' || found.text[0] !== QUOTE) continue;
      head.set(found.key, parsedText(found.text, file));
    }
    if (head.has('type') && scanner.isInItems) return head;
  }
  scanner.end();
  return head;
}

const QUOTE = 0x22;

function parsedText(text: Buffer, file: string): string {
  try {
    return JSON.parse(text.toString('utf8')) as string;
  } catch {
    throw new ArchiveRefused('json', 'it is no valid JSON', { file });
  }
}
