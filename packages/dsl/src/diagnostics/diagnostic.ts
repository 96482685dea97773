import { type Json, nearestName } from '@baton/kernel';
import { type Node, toJson } from '../yaml/node';
import { type DiagnosticKind, diagnosticKinds } from './kinds';

/** One fault (or surprising thing) in a blueprint, with all the data that a person needs to correct it. */
export interface Diagnostic {
  severity: 'error' | 'warning';
  /** Our own name of the fault: one of `diagnosticKinds`. */
  kind: DiagnosticKind;
  /** The numeric code of the original parser, null where it had none. */
  code: number | null;
  /** The exception class of the original parser for this fault. */
  className: string;
  message: string;
  /** Name or address of the text; null for a text without a name, and for faults outside any text. */
  file: string | null;
  /** Counted from 1; null when the fault is outside any text. */
  line: number | null;
  /** Counted from 1. */
  column: number | null;
  /** Path in the document, such as `node_templates.web.relationships[0].type`; '' for the whole document. */
  path: string;
  value?: Json;
  expected?: string;
  /** The most similar valid name. */
  nearest?: string;
  /** The names of a cycle, first and last equal. */
  cycle?: string[];
}

export interface ReportDetails {
  path?: string;
  /** The element whose check finds the fault, when it is not the one at `path`. */
  checkedAt?: string;
  /** The node with the fault: gives place and value. */
  at?: Node | undefined;
  value?: Json;
  expected?: string;
  /** The wrong name and the valid names: become `nearest` and, if short, `expected`. */
  name?: string;
  valid?: Iterable<string>;
  cycle?: string[];
}

const LISTED_NAMES = 12;
const SHOWN_VALUE = 300;
const MAX_DIAGNOSTICS = 200;
const MAX_NAME = 200;
/** Maximum comparisons with valid names per run; after that no names are suggested. */
const MAX_COMPARED = 50_000;

function bounded(value: Json): Json {
  const text = JSON.stringify(value);
  return text !== undefined && text.length > SHOWN_VALUE ? `${text.slice(0, SHOWN_VALUE)}...` : value;
}

/** Returns a value for messages: JSON, cut when long. */
export function shownValue(value: Json): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > SHOWN_VALUE ? `${text.slice(0, SHOWN_VALUE)}...` : text;
}

/** Makes a diagnostic; place and value come from the node. */
export function diagnostic(
  kind: DiagnosticKind,
  message: string,
  details: ReportDetails = {},
  isSearched = true,
): Diagnostic {
  const { severity, code, className } = diagnosticKinds[kind];
  const { at } = details;
  const place = at?.source.name !== undefined && at.source.text !== '' ? at.source.position(at.start) : null;
  const result: Diagnostic = {
    severity,
    kind,
    code,
    className,
    message,
    file: place ? at!.source.name : null,
    line: place?.line ?? null,
    column: place?.column ?? null,
    path: details.path ?? '',
  };
  if (details.value !== undefined) result.value = bounded(details.value);
  else if (at?.kind === 'scalar') result.value = bounded(toJson(at));
  if (details.expected !== undefined) result.expected = details.expected;
  if (details.valid !== undefined) addNames(result, details.name ?? '', [...details.valid], isSearched);
  if (details.cycle !== undefined) result.cycle = details.cycle;
  return result;
}

function addNames(result: Diagnostic, name: string, valid: string[], isSearched: boolean): void {
  const nearest = isSearched && name.length <= MAX_NAME ? nearestName(name, valid) : null;
  if (nearest !== null) result.nearest = nearest;
  if (result.expected === undefined && valid.length > 0) {
    result.expected =
      valid.length <= LISTED_NAMES ? `one of ${valid.join(', ')}` : `one of ${valid.length} names`;
  }
}

/** Collects diagnostics; equal ones are kept once, and the list is bounded. */
export class Diagnostics {
  readonly list: Diagnostic[] = [];
  private readonly seen = new Set<string>();
  private readonly checkedAt = new WeakMap<Diagnostic, string>();
  private compared = 0;

  get hasErrors(): boolean {
    return this.list.some((d) => d.severity === 'error');
  }

  report(kind: DiagnosticKind, message: string, details: ReportDetails = {}): void {
    if (this.list.length >= MAX_DIAGNOSTICS) return;
    const valid = details.valid === undefined ? undefined : [...details.valid];
    this.compared += valid?.length ?? 0;
    const found = diagnostic(
      kind,
      message,
      valid ? { ...details, valid } : details,
      this.compared <= MAX_COMPARED,
    );
    if (details.checkedAt !== undefined) this.checkedAt.set(found, details.checkedAt);
    this.add(found);
  }

  /** Returns the path of the element whose check finds the fault. */
  placeOf(found: Diagnostic): string {
    return this.checkedAt.get(found) ?? found.path;
  }

  /** Moves the smallest error after position `from` before all others, which keep their order. */
  leadWithLeast(from: number, compare: (a: Diagnostic, b: Diagnostic) => number): void {
    const [least] = this.list
      .slice(from)
      .filter((d) => d.severity === 'error')
      .sort(compare);
    if (least) this.list.splice(from, 0, ...this.list.splice(this.list.indexOf(least), 1));
  }

  add(found: Diagnostic): void {
    const key = `${found.kind} ${found.file ?? ''}:${found.line ?? ''}:${found.column ?? ''} ${found.line === null ? found.path : ''} ${found.message}`;
    if (this.seen.has(key) || this.list.length >= MAX_DIAGNOSTICS) return;
    this.seen.add(key);
    this.list.push(found);
  }
}

/** Returns one line for people: `file:line:column: error: message (at path; expected ...; did you mean ...?) [kind, code]`. */
export function formatDiagnostic(d: Diagnostic): string {
  const place = d.line === null ? (d.file ?? 'blueprint') : `${d.file ?? 'blueprint'}:${d.line}:${d.column}`;
  const notes = [
    d.path === '' ? null : `at ${d.path}`,
    d.value === undefined || typeof d.value === 'object' ? null : `found ${JSON.stringify(d.value)}`,
    d.expected === undefined ? null : `expected ${d.expected}`,
    d.nearest === undefined ? null : `did you mean "${d.nearest}"?`,
  ].filter((n) => n !== null);
  const tail = notes.length === 0 ? '' : ` (${notes.join('; ')})`;
  return `${place}: ${d.severity}: ${d.message}${tail} [${d.kind}${d.code === null ? '' : `, ${d.code}`}]`;
}

/** Formats diagnostics, one per line. */
export function formatDiagnostics(list: readonly Diagnostic[]): string {
  return list.map(formatDiagnostic).join('\n');
}
