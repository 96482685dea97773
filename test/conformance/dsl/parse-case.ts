import {
  type Diagnostic,
  formatDiagnostics,
  type ImportResolver,
  type ParseOutcome,
  parseBlueprint,
  parseResolverRules,
  withRules,
} from '@baton/dsl';
import { difference, sortMembers } from './compare';

export interface ExpectedError {
  class: string;
  bases: string[];
  code: number | null;
}

export interface ParseCase {
  id: string;
  kind: 'parse';
  dsl: string;
  location: string | null;
  resources_base_path: string | null;
  additional_resource_sources: string[];
  validate_version: boolean;
  validate_functions: boolean;
  validate_input_defaults: boolean;
  resolver: {
    rules?: unknown;
    fallback?: boolean;
    blueprints?: Record<string, string | [string, string]>;
  } | null;
  files: string[];
  reads: Record<string, string | null>;
  plan?: unknown;
  error?: ExpectedError;
}

/** Returns a resolver that knows only the recorded files of a case. */
export function recordedResolver(
  c: Pick<ParseCase, 'files' | 'reads' | 'location' | 'resolver'>,
): ImportResolver {
  const files = new Set(c.files ?? []);
  const inner: ImportResolver = {
    read: (url) => c.reads?.[url] ?? null,
    exists: (path) =>
      files.has(path) ||
      path === c.location ||
      typeof c.reads?.[`file:${path}`] === 'string' ||
      typeof c.reads?.[`file://${path}`] === 'string',
    blueprint: (id) => {
      const found = c.resolver?.blueprints?.[`blueprint:${id}`];
      if (found === undefined) return null;
      return typeof found === 'string' ? { text: found } : { text: found[0], location: found[1] };
    },
  };
  const rules = parseResolverRules(c.resolver ?? {});
  return rules.ok ? withRules(inner, rules.value) : inner;
}

function parseCase(c: ParseCase): Promise<ParseOutcome> {
  return parseBlueprint({
    text: c.dsl,
    location: c.location,
    resourcesBasePath: c.resources_base_path,
    additionalResourceSources: c.additional_resource_sources,
    resolver: recordedResolver(c),
    options: {
      validateVersion: c.validate_version,
      validateFunctions: c.validate_functions,
      validateInputDefaults: c.validate_input_defaults,
    },
  });
}

/** Compares the first error with the expected one; null when they agree. */
export function errorDifference(error: Diagnostic | undefined, expected: ExpectedError): string | null {
  if (!error) return `no error, expected ${expected.class} ${expected.code ?? ''}`;
  if (error.className === expected.class && error.code === expected.code) return null;
  return `${error.className} ${error.code ?? ''} (${error.message}), expected ${expected.class} ${expected.code ?? ''}`;
}

export async function runParseCase(c: ParseCase): Promise<string | null> {
  const { plan, diagnostics } = await parseCase(c);
  const errors = diagnostics.filter((d) => d.severity === 'error');
  if (c.error) return errorDifference(errors[0], c.error);
  if (!plan) return formatDiagnostics(errors.slice(0, 3));
  return difference(sortMembers(JSON.parse(JSON.stringify(plan))), sortMembers(c.plan));
}
