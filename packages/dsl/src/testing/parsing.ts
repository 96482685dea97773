import {
  formatDiagnostic,
  type ImportResolver,
  type ParsedPlan,
  type ParseOptions,
  parseBlueprint,
  withBuiltinTypes,
} from '../index';

/** The first line of a blueprint of version 1_`minor`. */
export const V = (minor: number) => `tosca_definitions_version: cloudify_dsl_1_${minor}\n`;

interface Setting {
  files?: Record<string, string>;
  blueprints?: Record<string, string>;
  options?: ParseOptions;
}

function resolverOf({ files = {}, blueprints = {} }: Setting): ImportResolver {
  return withBuiltinTypes({
    read: (url) => files[url.replace(/^file:/, '')] ?? null,
    exists: (path) => Object.hasOwn(files, path),
    blueprint: (id) => (Object.hasOwn(blueprints, id) ? { text: blueprints[id]! } : null),
  });
}

/** Parses a text together with the files and other blueprints of a setting. */
export async function run(text: string, setting: Setting = {}) {
  return parseBlueprint({
    text,
    location: '/bp/blueprint.yaml',
    resolver: resolverOf(setting),
    ...(setting.options ? { options: setting.options } : {}),
  });
}

/** @throws Error with all diagnostics when there is no plan. */
export async function planOf(text: string, setting: Setting = {}): Promise<ParsedPlan> {
  const { plan, diagnostics } = await run(text, setting);
  if (!plan) throw new Error(diagnostics.map(formatDiagnostic).join('\n'));
  return plan;
}

/** Returns the codes of the errors, or their classes where they have no code, in the order of the report. */
export async function codesOf(text: string, setting: Setting = {}): Promise<(number | string)[]> {
  return (await run(text, setting)).diagnostics
    .filter((d) => d.severity === 'error')
    .map((d) => d.code ?? d.className);
}
