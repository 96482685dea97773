/** One round of parsing an archive in memory: on the manager in a thread, in a browser in a web worker. Pure. */
import { builtinTypesAt } from '../builtin/builtin';
import type { BlueprintOutline } from '../complete/outline';
import type { Diagnostic } from '../diagnostics/diagnostic';
import type { ImportResolver, Unreadable } from '../imports/resolver';
import { type ParseOptions, parseBlueprint } from '../parse';
import type { ParsedPlan } from '../plan/plan';
import { type ArchiveTask, type Fetched, needBlueprint, needFile, needPlugin, needUrl } from './needs';

/** Folder for imported blueprints in the virtual file system of the parser; the blueprint itself is at the root. */
const OTHERS = '/@blueprints/';

/** Converts `file:` addresses and absolute paths to a path without dots; '' when it leads out of the root. */
function normalPath(url: string): string {
  const path = url.replace(/^file:(\/\/(?=\/))?/, '');
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') {
      if (segments.pop() === undefined) return '';
    } else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}

class Round {
  readonly needs = new Set<string>();
  constructor(private readonly task: ArchiveTask) {}

  private ask(key: string): Fetched {
    const known = this.task.fetched[key];
    if (known === undefined) this.needs.add(key);
    return known ?? null;
  }

  /** Returns the archive that contains `path`, and the path in it. */
  private locate(path: string): { files: ArchiveTask['files']; inner: string; isOwn: boolean } | null {
    if (!path.startsWith(OTHERS)) return { files: this.task.files, inner: path.slice(1), isOwn: true };
    const [id = '', ...rest] = path.slice(OTHERS.length).split('/');
    const other = this.task.fetched[needBlueprint(decodeURIComponent(id))];
    return other?.kind === 'blueprint' ? { files: other.files, inner: rest.join('/'), isOwn: false } : null;
  }

  private readFile(url: string): string | null {
    const place = locatable(url) ? this.locate(normalPath(url)) : null;
    if (place === null || !place.files.paths.includes(place.inner)) return null;
    const known = place.files.texts[place.inner];
    if (known !== undefined || !place.isOwn) return known ?? null;
    const fetched = this.ask(needFile(place.inner));
    return fetched?.kind === 'text' ? fetched.text : null;
  }

  resolver(): ImportResolver {
    return {
      read: (url) => {
        // Not for files: an archive may contain a folder of that name itself.
        const builtin = locatable(url) ? null : builtinTypesAt(url);
        if (builtin !== null) return builtin;
        if (/^https?:/i.test(url)) {
          const fetched = this.ask(needUrl(url));
          return fetched?.kind === 'text' ? fetched.text : unreadable(fetched);
        }
        return this.readFile(url);
      },
      exists: (path) => {
        const place = path.startsWith('/') ? this.locate(normalPath(path)) : null;
        return place?.files.paths.includes(place.inner) ?? false;
      },
      plugin: (spec, dsl) => {
        const fetched = this.ask(needPlugin(spec.name, spec.version, spec.distribution, dsl));
        return fetched?.kind === 'plugin' ? fetched : unreadable(fetched);
      },
      blueprint: (id) => {
        const fetched = this.ask(needBlueprint(id));
        if (fetched?.kind !== 'blueprint') return null;
        const text = fetched.files.texts[fetched.mainFile];
        return text === undefined
          ? null
          : { text, location: `file:${OTHERS}${encodeURIComponent(id)}/${fetched.mainFile}` };
      },
    };
  }
}

function unreadable(fetched: Fetched): Unreadable | null {
  if (fetched?.kind !== 'unreadable') return null;
  return { unreadable: fetched.reason, ...(fetched.valid ? { valid: fetched.valid } : {}) };
}

/** Whether an address belongs to the virtual file system; `resource:` and other addresses do not exist here. */
function locatable(url: string): boolean {
  return url.startsWith('file:') || url.startsWith('/');
}

/** Converts a file name to the path in the archive, which the author knows. */
const shownFile = (file: string | null): string | null =>
  file?.replace(/^(?:file:)?\/+/, '').replace(/^@blueprints\/([^/]+)\//, 'blueprint:$1/') ?? null;

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

export interface ParsedArchive {
  /** Keys that were requested and are missing in `fetched`; when there are any, the other results are provisional. */
  needs: string[];
  /** Null when the diagnostics contain an error. */
  plan: ParsedPlan | null;
  /** Files have the names that the author knows: their paths in the archive. */
  diagnostics: Diagnostic[];
  /** Present when requested and the main file can be read. */
  outline: BlueprintOutline | null;
}

/** Parses the main file of `task`. Never throws because of the texts. @throws Error when the main file has no text */
export async function parseArchive(task: ArchiveTask, options: ParseOptions = {}): Promise<ParsedArchive> {
  const round = new Round(task);
  const text = task.files.texts[task.mainFile];
  if (text === undefined) throw new Error(`no text of ${task.mainFile}`);
  const others = Object.entries(task.fetched).flatMap(([key, f]) =>
    f?.kind === 'blueprint'
      ? [`file:${OTHERS}${encodeURIComponent(key.slice('blueprint '.length))}/${folderOf(f.mainFile)}`]
      : [],
  );
  const { plan, diagnostics, outline } = await parseBlueprint({
    text,
    location: `/${task.mainFile}`,
    resolver: round.resolver(),
    additionalResourceSources: others,
    options: { nowMs: task.nowMs, ...options },
  });
  const nodes = outline?.nodes.map((node) => ({ ...node, file: shownFile(node.file) }));
  return {
    needs: [...round.needs],
    plan,
    diagnostics: diagnostics.map((d) => ({ ...d, file: shownFile(d.file) })),
    outline: outline && { ...outline, nodes: nodes ?? [] },
  };
}
