import { FatalError } from '@baton/plugin-sdk';
import type { Backend, ModuleProperties, ModuleScope, Source } from '../module/schema';

/** How a module is to be run now: the input goes before what the last operation has kept, and that before the property. */
export interface Settings {
  source: Source;
  sourcePath: string;
  variables: Record<string, unknown>;
  environment: Record<string, string>;
  backend: Backend;
  config: ModuleProperties['resource_config'];
}

type Scope = Pick<ModuleScope, 'inputs' | 'properties' | 'runtime'>;

const isDictionary = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A default of the language that nobody has evaluated: the call came from no blueprint. */
const isFunction = (value: unknown): boolean =>
  isDictionary(value) &&
  Object.keys(value).length === 1 &&
  ('get_property' in value || 'get_attribute' in value);

/** An input that says something; workflows give empty ones for what the user has left out. */
const isGiven = (value: unknown): boolean =>
  !isFunction(value) &&
  value !== undefined &&
  value !== null &&
  value !== '' &&
  !(typeof value === 'object' && Object.keys(value).length === 0);

/** The last location as an input is no wish for another source: the property may name it with credentials, or name a new one. */
function inputsOf({ inputs, runtime }: Scope): Readonly<Record<string, unknown>> {
  return inputs.source === runtime.last_source_location ? { ...inputs, source: undefined } : inputs;
}

/** Values of inputs that later operations go on with, until an input says something else. */
export type Kept = Readonly<Record<string, unknown>>;
const NAMES = ['source', 'source_path', 'variables', 'environment_variables', 'backend'] as const;

/**
 * What later operations must know of this one's inputs. A value that the node's property has too is not kept: the property may change,
 * and a secret in it as well.
 */
export function keptAfter(scope: Scope, before: Kept): Kept {
  const { properties } = scope;
  const inputs = inputsOf(scope);
  const config = properties.resource_config as Record<string, unknown>;
  const kept: Record<string, unknown> = { ...before };
  for (const name of NAMES) {
    if (!isGiven(inputs[name])) continue;
    if (JSON.stringify(inputs[name]) === JSON.stringify(config[name])) delete kept[name];
    else kept[name] = inputs[name];
  }
  return kept;
}

/** @throws FatalError for an input of another kind */
export function settingsOf(scope: Scope, kept: Kept): Settings {
  const { properties } = scope;
  const inputs = inputsOf(scope);
  const config = properties.resource_config;
  const pick = (name: string, byProperty: unknown): unknown =>
    [inputs[name], kept[name]].find(isGiven) ?? byProperty;
  return {
    source: sourceOf(pick('source', config.source)),
    sourcePath: textOf('source_path', pick('source_path', config.source_path)),
    variables: dictionaryOf('variables', pick('variables', config.variables)),
    environment: environmentOf(pick('environment_variables', config.environment_variables), config.backend),
    backend: dictionaryOf('backend', pick('backend', config.backend)) as Backend,
    config,
  };
}

function sourceOf(value: unknown): Source {
  if (typeof value === 'string') return value;
  if (isDictionary(value) && typeof value.location === 'string') return value as Source;
  throw new FatalError('inputs.source: expected a location, or a dictionary with location');
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw new FatalError(`inputs.${name}: expected a text`);
}

function dictionaryOf(name: string, value: unknown): Record<string, unknown> {
  if (isDictionary(value)) return value;
  throw new FatalError(`inputs.${name}: expected a dictionary`);
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Environment variables are texts; others are written as JSON. */
function environmentOf(value: unknown, { credentials = {} }: Backend): Record<string, string> {
  const all = { ...credentials, ...dictionaryOf('environment_variables', value) };
  return Object.fromEntries(
    Object.entries(all).map(([name, given]): [string, string] => {
      if (!VARIABLE.test(name))
        throw new FatalError(`environment_variables: ${JSON.stringify(name)} is no name`);
      const text = typeof given === 'string' ? given : JSON.stringify(given);
      if (text.includes('\0')) throw new FatalError(`environment_variables.${name} holds the character 0`);
      return [name, text];
    }),
  );
}
