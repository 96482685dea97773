import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** One path of one endpoint row of the specification's documents. */
export interface SpecRow {
  /** Name of the document without its extension, and the line of the row in it. */
  document: string;
  line: number;
  version: 'v3.1' | 'v2.1';
  method: string;
  /** As the document writes it: `/blueprints/{blueprint_id}`, with the query where it shows one. */
  path: string;
}

/** The documents in the order of the specification. */
const DOCUMENTS = ['rest-v3.1-part1', 'rest-v3.1-part2', 'rest-v2.1'];
const ROW = /^\| (GET|PUT|POST|PATCH|DELETE) \| ([^|]+)/;
/** Names that the documents use for both kinds of filtered resources. */
const KINDS = ['deployments', 'blueprints'];

/** Where the specification lies; null: not on this machine, the committed rows stand. */
export function specFolder(root: string): string | null {
  const folder = join(resolve(root, process.env.BATON_SHARED ?? '../shared'), 'spec');
  return existsSync(join(folder, `${DOCUMENTS[0]}.md`)) ? folder : null;
}

/** Every endpoint row of the documents; a row that names several paths, or both kinds, gives one entry each. */
export function readSpecRows(folder: string): SpecRow[] {
  return DOCUMENTS.flatMap((document) =>
    readFileSync(join(folder, `${document}.md`), 'utf8')
      .split('\n')
      .flatMap((text, i) => {
        const row = ROW.exec(text);
        if (!row) return [];
        const version = document.includes('v2.1') ? ('v2.1' as const) : ('v3.1' as const);
        return pathsOf(row[2]!).map((path) => ({ document, line: i + 1, version, method: row[1]!, path }));
      }),
  );
}

function pathsOf(cell: string): string[] {
  return cell
    .replace(/\(.*\)/, '')
    .split(',')
    .map((path) => path.trim())
    .filter((path) => path.startsWith('/'))
    .flatMap((path) =>
      path.includes('{resource}') ? KINDS.map((kind) => path.replace('{resource}', kind)) : [path],
    );
}
