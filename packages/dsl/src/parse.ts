import type { Json } from '@baton/kernel';
import { isJsonObject } from '@baton/kernel';
import { type BlueprintOutline, outlineOf } from './complete/outline';
import { checkValue, constraintsOf, newMatchingBudget } from './constraints/check-value';
import { type Diagnostic, Diagnostics } from './diagnostics/diagnostic';
import { DslError } from './diagnostics/dsl-error';
import type { DiagnosticKind } from './diagnostics/kinds';
import { type ElementContext, newWorkBudget } from './elements/element-context';
import { inspectFunctions } from './functions/validate';
import { type Loaded, loadBlueprint } from './imports/load';
import { defaultImportLimits, type ImportLimits, type LoadContext } from './imports/load-context';
import { withoutNamespace } from './imports/namespace';
import { emptyResolver, hasScheme, type ImportResolver, joinLocal, toPath } from './imports/resolver';
import { sharedTextCache, type TextCache } from './imports/text-cache';
import { buildPlan, implementationTexts } from './plan/build';
import type { ParsedPlan } from './plan/plan';
import { checkOrder } from './schema/check-order';
import { checkShape } from './schema/check-shape';
import { blueprintShape } from './schema/tables';
import { defaultReadLimits, type ReadLimits } from './yaml/limits';
import type { MapNode } from './yaml/node';
import { childOf } from './yaml/node';

export interface ParseOptions {
  /** Whether features and imports must match the definitions version; true by default. */
  validateVersion?: boolean;
  /** Whether intrinsic functions are checked; true by default. */
  validateFunctions?: boolean;
  /** Whether defaults of inputs must meet their constraints; true by default. */
  validateInputDefaults?: boolean;
  limits?: Partial<ReadLimits & ImportLimits>;
  cache?: TextCache;
  /** Day for schedule times without a date, in ms since 1970; absent: 1970-01-01. */
  nowMs?: number;
  /** Time zone of schedule times without one; UTC by default. */
  timezone?: string;
  /** Whether the outcome has an outline, also for a blueprint with errors: for editors. */
  hasOutline?: boolean;
}

export interface ParseRequest {
  text: string;
  /** Path or address of the main file: its name in diagnostics, and the base of relative imports and scripts. */
  location?: string | null;
  resourcesBasePath?: string | null;
  /** Additional folders or addresses that may contain scripts. */
  additionalResourceSources?: readonly string[];
  resolver?: ImportResolver;
  options?: ParseOptions;
}

export interface ParseOutcome {
  /** Null when the diagnostics contain an error. */
  plan: ParsedPlan | null;
  /** Errors in the order of the original's checks (reading, imports, elements, functions), then warnings. */
  diagnostics: Diagnostic[];
  /** Present when requested and the main file is YAML. */
  outline: BlueprintOutline | null;
}

/**
 * Parses a blueprint into a checked plan and reports all faults at once (reference 0 to 6). Never throws because of the
 * text; an error of the resolver passes through.
 */
export async function parseBlueprint(request: ParseRequest): Promise<ParseOutcome> {
  const { options = {} } = request;
  const diagnostics = new Diagnostics();
  let plan: ParsedPlan | null = null;
  let outline: BlueprintOutline | null = null;
  try {
    const loaded = await load(request, diagnostics);
    if (loaded && options.hasOutline) outline = outlineOf(loaded.root);
    if (loaded) plan = await parseLoaded(request, options, loaded, diagnostics);
  } catch (error) {
    if (!(error instanceof DslError)) throw error;
    diagnostics.add(error.diagnostic);
  }
  const errors = diagnostics.list.filter((d) => d.severity === 'error');
  const warnings = diagnostics.list.filter((d) => d.severity === 'warning');
  return { plan: errors.length === 0 ? plan : null, diagnostics: [...errors, ...warnings], outline };
}

function load(request: ParseRequest, diagnostics: Diagnostics): Promise<Loaded | null> {
  const { options = {}, location = null } = request;
  const readLimits: ReadLimits = { ...defaultReadLimits, ...options.limits };
  const importLimits: ImportLimits = { ...defaultImportLimits, ...options.limits };
  const cache = options.cache ?? sharedTextCache();
  const context: LoadContext = {
    diagnostics,
    cache,
    readLimits,
    importLimits,
    resolver: request.resolver ?? emptyResolver,
    resourcesBasePath: request.resourcesBasePath ?? null,
    validateVersion: options.validateVersion ?? true,
    budget: { imports: importLimits.imports, characters: importLimits.totalLength },
    blueprintDepth: 0,
  };
  return loadBlueprint(cache.read(location, request.text, readLimits), location, context);
}

async function parseLoaded(
  request: ParseRequest,
  options: ParseOptions,
  loaded: Loaded,
  diagnostics: Diagnostics,
): Promise<ParsedPlan | null> {
  const { root, version } = loaded;
  // with a missing import most names would be unknown: only the present parts are checked
  const isIncomplete = diagnostics.list.some((d) => INCOMPLETE.has(d.kind));
  const scripts = await findScripts(request, root);
  const context: ElementContext = {
    root,
    diagnostics,
    version: version.definitions_version,
    validateVersion: options.validateVersion ?? true,
    isScript: (text) => scripts.has(text),
    work: newWorkBudget(),
    partialNodes: new Set(),
  };
  const loadedWith = diagnostics.list.length;
  checkShape(context, root, blueprintShape, '');
  const plan = isIncomplete
    ? null
    : buildPlan(context, version, { nowMs: options.nowMs ?? 0, timezone: options.timezone ?? 'UTC' });
  diagnostics.leadWithLeast(
    loadedWith,
    checkOrder(root, (d) => diagnostics.placeOf(d)),
  );
  if (plan === null) return null;
  if (options.validateInputDefaults ?? true) await checkDefaults(plan, root, diagnostics);
  const use = await inspectFunctions(plan, (options.validateFunctions ?? true) ? diagnostics : null, context);
  if (!use.hasComputedInput) warnUnusedInputs(plan, root, use.inputs, diagnostics);
  return plan;
}

/** Kinds of faults after which the merged document is incomplete. */
const INCOMPLETE: ReadonlySet<DiagnosticKind> = new Set([
  'import_failed',
  'blueprint_import_failed',
  'too_many_imports',
  'yaml_syntax',
  'yaml_token',
  'yaml_reference',
  'yaml_character',
  'limit_exceeded',
]);

/** Returns the implementations that are files: beside the main file or below one of the additional sources. */
async function findScripts(request: ParseRequest, root: MapNode): Promise<Set<string>> {
  const { location = null, resolver } = request;
  const found = new Set<string>();
  const exists = resolver?.exists?.bind(resolver);
  if (!exists) return found;
  const bases = [
    ...(location === null
      ? []
      : [location.includes('/') ? location.slice(0, location.lastIndexOf('/') + 1) : '']),
    ...(request.additionalResourceSources ?? []),
  ].map(toPath);
  for (const text of implementationTexts({ root })) {
    if (hasScheme(text)) continue;
    for (const base of bases) {
      const path = base === '' ? withoutNamespace(text) : joinLocal(base, withoutNamespace(text));
      if (!(await exists(path))) continue;
      found.add(text);
      break;
    }
  }
  return found;
}

async function checkDefaults(plan: ParsedPlan, root: MapNode, diagnostics: Diagnostics): Promise<void> {
  const matching = newMatchingBudget();
  for (const name of Object.keys(plan.inputs)) {
    const input = plan.inputs[name]!;
    if (!isJsonObject(input) || input.default === undefined) continue;
    const text = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);
    const path = `inputs.${name}.default`;
    const faults = await checkValue(
      {
        owner: `input "${name}"`,
        path,
        value: input.default,
        type: text(input.type),
        itemType: text(input.item_type),
        constraints: constraintsOf(input),
      },
      { matching },
    );
    const at = childOf(childOf(root.get('inputs'), name), 'default');
    const place = at?.source.position(at.start);
    // the original drops the error messages of constraints after the check of a default; plans are compared, so we do
    // the same
    const constraints = constraintsOf(input);
    if (constraints.some((c) => c.error_message !== undefined))
      input.constraints = constraints.map(({ error_message: _text, ...constraint }) => constraint);
    for (const fault of faults)
      diagnostics.add(
        at && place ? { ...fault, file: at.source.name, line: place.line, column: place.column } : fault,
      );
  }
}

/** Reports unused inputs of the main file; imported files declare inputs for other blueprints. */
function warnUnusedInputs(
  plan: ParsedPlan,
  root: MapNode,
  used: ReadonlySet<string>,
  diagnostics: Diagnostics,
): void {
  const section = root.get('inputs');
  if (section?.kind !== 'map') return;
  const unread = section.entries.filter(({ name, key }) => !used.has(name) && key.source === section.source);
  if (unread.length === 0) return;
  // places whose functions are evaluated later, or never
  const inDefaults = JSON.stringify([
    plan.inputs,
    plan.workflows,
    plan.groups,
    plan.resource_tags,
    plan.nodes.map((n) => n.relationships.map((r) => r.properties)),
  ]);
  for (const { name, key } of unread) {
    if (
      inDefaults.includes(`"get_input":${JSON.stringify(name)}`) ||
      inDefaults.includes(`"get_input":[${JSON.stringify(name)}`)
    )
      continue;
    diagnostics.report('unused_input', `nothing reads the input "${name}"`, {
      at: key,
      path: `inputs.${name}`,
      expected: 'a get_input somewhere',
    });
  }
}
