import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BuiltinVersion,
  builtinTypes,
  formatDiagnostics,
  type ImportResolver,
  type ParsedPlan,
  parseBlueprint,
} from '@baton/dsl';
import { difference, sortMembers } from './compare';

export interface RealCase {
  id: string;
  location: string;
  dsl: string;
  files: string[];
  reads: Record<string, string | null>;
  expect: unknown;
}

const texts = new Map<string, Record<string, string>>();

function textsOf(folder: string): Record<string, string> {
  let found = texts.get(folder);
  if (!found)
    texts.set(
      folder,
      (found = JSON.parse(readFileSync(join(folder, 'texts.json'), 'utf8')) as Record<string, string>),
    );
  return found;
}

/** Returns the text of a reference: `$builtin:types` is our own types file of version 1_5, `$builtin:types_1_4` that of 1_4. */
export function textOf(value: string | null, folder: string): string | null {
  if (value === null) return null;
  if (value.startsWith('$builtin:'))
    return builtinTypes((/_(1_[34])$/.exec(value)?.[1] ?? '1_5') as BuiltinVersion);
  return value.startsWith('$text:') ? (textsOf(folder)[value.slice('$text:'.length)] ?? null) : value;
}

function realResolver(c: RealCase, folder: string): ImportResolver {
  const files = new Set(c.files.map((f) => (f.startsWith('/') ? f : `/bp/${f}`)));
  return { read: (url) => textOf(c.reads[url] ?? null, folder), exists: (path) => files.has(path) };
}

type Dict = Record<string, unknown>;

const FIELDS = [
  'plugin',
  'operation',
  'executor',
  'inputs',
  'max_retries',
  'retry_interval',
  'timeout',
  'timeout_recoverable',
];

/** Returns the recorded, non-empty fields of operations. */
function operations(all: Dict): Dict {
  const result: Dict = {};
  for (const [name, value] of Object.entries(all)) {
    const operation = value as Dict;
    if (!name.includes('.') || !operation.operation) continue;
    result[name] = Object.fromEntries(
      Object.entries(operation).filter(
        ([key, v]) =>
          FIELDS.includes(key) &&
          v !== null &&
          v !== false &&
          v !== '' &&
          !(typeof v === 'object' && Object.keys(v as object).length === 0),
      ),
    );
  }
  return result;
}

function project(plan: ParsedPlan): Dict {
  return {
    nodes: plan.nodes.map((n) => ({
      id: n.id,
      type: n.type,
      type_hierarchy: n.type_hierarchy,
      properties: n.properties,
      operations: operations(n.operations),
      host_id: n.host_id ?? null,
      relationships: n.relationships.map((r) => ({
        type: r.type,
        target_id: r.target_id,
        type_hierarchy: r.type_hierarchy,
        properties: r.properties,
        source_operations: operations(r.source_operations),
        target_operations: operations(r.target_operations),
      })),
      scalable: n.capabilities.scalable.properties,
    })),
    inputs: Object.keys(plan.inputs).sort(),
    outputs: plan.outputs,
    capabilities: plan.capabilities,
    workflows: Object.keys(plan.workflows).sort(),
    scaling_groups: plan.scaling_groups,
    labels: plan.labels,
    blueprint_labels: plan.blueprint_labels,
    groups: Object.keys(plan.groups).sort(),
  };
}

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);

export async function runRealCase(c: RealCase, folder: string): Promise<string | null> {
  const { plan, diagnostics } = await parseBlueprint({
    text: c.dsl,
    location: c.location,
    resolver: realResolver(c, folder),
  });
  if (!plan) return formatDiagnostics(diagnostics.filter((d) => d.severity === 'error').slice(0, 3));
  return unlikeRecorded(plan, c);
}

/** Compares a plan with the recorded one; null when they are alike. */
export function unlikeRecorded(plan: ParsedPlan, c: RealCase): string | null {
  const expected = c.expect as Dict & { nodes: { id: string; relationships: Dict[] }[] };
  const actual = JSON.parse(JSON.stringify(project(plan))) as typeof expected;
  expected.nodes.sort(byId);
  actual.nodes.sort(byId);
  return difference(sortMembers(actual), sortMembers(expected));
}
