/** Configuration: environment variables, checked by one zod object whose field names are the variables. */
import { nearestName } from '@baton/kernel';
import type { z } from 'zod';

export type ConfigSchema = z.ZodObject;
export type ConfigOf<S extends ConfigSchema> = Readonly<z.output<S>>;

/** EX_CONFIG of sysexits. */
export const CONFIG_EXIT_CODE = 78;

/** All problems of a configuration; runService prints them and exits with 78. */
export class ConfigError extends Error {
  constructor(readonly problems: string[]) {
    super(`the configuration is wrong:\n${problems.map((p) => `  - ${p}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/**
 * Returns the frozen configuration. An empty variable counts as absent, because compose files produce empty ones.
 * @throws ConfigError naming every wrong or missing variable.
 */
export function loadConfig<S extends ConfigSchema>(
  schema: S,
  env: Record<string, string | undefined>,
): ConfigOf<S> {
  const names = Object.keys(schema.shape);
  const given = Object.fromEntries(names.map((name) => [name, env[name] === '' ? undefined : env[name]]));
  const result = schema.safeParse(given);
  if (result.success) return Object.freeze(result.data) as ConfigOf<S>;
  throw new ConfigError(
    result.error.issues.map((issue) => {
      const name = String(issue.path[0] ?? '');
      if (given[name] === undefined) return `${name} is missing${nearMiss(name, env)}`;
      return `${name}: ${issue.message}`;
    }),
  );
}

function nearMiss(name: string, env: Record<string, string | undefined>): string {
  const near = nearestName(
    name,
    Object.keys(env).filter((key) => env[key] !== undefined && key !== name),
  );
  return near ? ` (is ${near} a misspelling of it?)` : '';
}

/** Returns the BATON_ variables in `env` that look like a misspelt field of the schema; variables of other services are ignored. */
export function misspeltVariables(
  schema: ConfigSchema,
  env: Record<string, string | undefined>,
): { name: string; nearest: string }[] {
  const known = Object.keys(schema.shape);
  return Object.keys(env)
    .filter((name) => name.startsWith('BATON_') && !known.includes(name))
    .flatMap((name) => {
      const nearest = nearestName(
        name,
        known.filter((k) => env[k] === undefined),
      );
      return nearest ? [{ name, nearest }] : [];
    });
}

export interface ConfigRow {
  name: string;
  isRequired: boolean;
  default: string | null;
  doc: string;
}

interface Node {
  description?: string;
  _zod: { def: { type: string; innerType?: Node; in?: Node; defaultValue?: unknown } };
}

function walk(node: Node | undefined): Node[] {
  return node ? [node, ...walk(node._zod.def.innerType ?? node._zod.def.in)] : [];
}

/** One row per variable, for docs/generated/config.md. */
export function describeConfig(schema: ConfigSchema): ConfigRow[] {
  return Object.entries(schema.shape).map(([name, field]) => {
    const nodes = walk(field as unknown as Node);
    const fallback = nodes.find((n) => n._zod.def.type === 'default' || n._zod.def.type === 'prefault');
    const isOptional = fallback !== undefined || nodes.some((n) => n._zod.def.type === 'optional');
    return {
      name,
      isRequired: !isOptional,
      default: fallback ? String(fallback._zod.def.defaultValue) : null,
      doc: nodes.find((n) => n.description)?.description ?? '',
    };
  });
}
