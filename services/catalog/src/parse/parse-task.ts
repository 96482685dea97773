/** One round of parsing, in the thread: pure but for the built-in files of the parser. */
import {
  builtinTypesAt,
  type Diagnostic,
  type ImportResolver,
  parseBlueprint,
  type Unreadable,
} from '@baton/dsl';
import { badParameter, foldJson, isAppError, type JsonObject } from '@baton/kernel';
import { MAX_PLAN_CHARS, PLAIN_PLAN_CHARS } from '../domain/plan-limits';
import { planLabels, planUses } from '../domain/plan-uses';
import type { BlueprintDiagnostic } from '../domain/upload-failure';

import {
  type Fetched,
  needBlueprint,
  needFile,
  needPlugin,
  needUrl,
  type ParseReply,
  type ParseTask,
} from './protocol';

/** Where archives lie in the thread's imaginary file system: the blueprint itself at the root, others below this. */
const OTHERS = '/@blueprints/';

/** `file:` addresses and absolute paths as a path without dots, '' when it leads out of the root. */
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
  constructor(private readonly task: ParseTask) {}

  private ask(key: string): Fetched {
    const known = this.task.fetched[key];
    if (known === undefined) this.needs.add(key);
    return known ?? null;
  }

  /** The archive that holds `path`, and the path in it. */
  private locate(path: string): { files: ParseTask['files']; inner: string; isOwn: boolean } | null {
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
        // Not for files: an archive may bring a folder of that name itself.
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

/** Only addresses of the imaginary file system; `resource:` and the rest are nobody's. */
function locatable(url: string): boolean {
  return url.startsWith('file:') || url.startsWith('/');
}

/** File names as the author knows them: paths in the archive. */
function shown(d: Diagnostic): BlueprintDiagnostic {
  const file =
    d.file === null
      ? null
      : d.file.replace(/^(?:file:)?\/+/, '').replace(/^@blueprints\/([^/]+)\//, 'blueprint:$1/');
  return { ...d, file };
}

function fault(message: string, path: string): BlueprintDiagnostic {
  return {
    severity: 'error',
    kind: 'bad_label',
    code: null,
    className: '',
    message,
    file: null,
    line: null,
    column: null,
    path,
  };
}

/** @throws AppError bad_parameters_error for a plan that nobody could answer: no text of that length exists. */
function planText(plan: JsonObject): { json: string } {
  const { text, size } = foldJson(plan, PLAIN_PLAN_CHARS);
  if (size > MAX_PLAN_CHARS)
    throw badParameter('node_templates', `The plan of the blueprint has ${size} characters`, {
      expected: `at most ${MAX_PLAN_CHARS}`,
    });
  return { json: text };
}

/** Parses `task`. Never throws for what the texts hold. */
export async function parseTask(task: ParseTask): Promise<ParseReply> {
  const round = new Round(task);
  const text = task.files.texts[task.mainFile];
  if (text === undefined) throw new Error(`no text of ${task.mainFile}`);
  const others = Object.entries(task.fetched).flatMap(([key, f]) =>
    f?.kind === 'blueprint'
      ? [`file:${OTHERS}${encodeURIComponent(key.slice('blueprint '.length))}/${folderOf(f.mainFile)}`]
      : [],
  );
  const { plan, diagnostics } = await parseBlueprint({
    text,
    location: `/${task.mainFile}`,
    resolver: round.resolver(),
    additionalResourceSources: others,
    options: { nowMs: task.nowMs },
  });
  const reply: ParseReply = { needs: [...round.needs], plan: null, diagnostics: diagnostics.map(shown) };
  if (plan === null || reply.needs.length > 0) return reply;
  const json = plan as unknown as JsonObject;
  try {
    reply.plan = {
      ...planText(json),
      requirements: json.requirements ?? {},
      description: typeof json.description === 'string' ? json.description : null,
      labels: planLabels(json),
      uses: planUses(json),
    };
  } catch (error) {
    if (!isAppError(error)) throw error;
    const { field } = error.details;
    reply.diagnostics.unshift(fault(error.message, field === 'node_templates' ? field : 'blueprint_labels'));
  }
  return reply;
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);
