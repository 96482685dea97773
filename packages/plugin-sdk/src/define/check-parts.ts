import { nearestName } from '@baton/kernel';
import { DefinitionError } from '../schema/definition-error';
import { type Described, describeShape, type ObjectSchema } from '../schema/describe';
import type { PluginDefinition } from './definition';

export const NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;
const TYPE_NAME = /^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)+$/;
/** Longest name; names become names of files. */
export const MAX_NAME = 100;

/** Describes a schema, and so checks it. */
export function schemaOf(
  schema: ObjectSchema | undefined,
  path: readonly string[],
): Record<string, Described> {
  if (schema === undefined) return {};
  if (typeof schema !== 'object' || typeof schema.shape !== 'object')
    throw new DefinitionError(path, 'is no schema of an object', 'z.object({...})');
  return describeShape(schema, path);
}

/** A mark inside of an object would be overlooked: the whole value is masked or refused by its own mark. */
export function refuseInnerMarks(schema: ObjectSchema | undefined, path: readonly string[]): void {
  if (schema === undefined) return;
  for (const [name, described] of Object.entries(describeShape(schema, path))) {
    if (described.object === undefined || described.isSensitive) continue;
    for (const [inner, part] of Object.entries(describeShape(described.object, [...path, name])))
      if (part.isSensitive)
        throw new DefinitionError(
          [...path, name, inner],
          'sensitive() stands inside of an object',
          `sensitive() around ${name}`,
        );
    refuseInnerMarks(described.object, [...path, name]);
  }
}

export function requireTypeName(name: string, path: readonly string[]): void {
  if (typeof name !== 'string' || !TYPE_NAME.test(name) || name.length > 2 * MAX_NAME)
    throw new DefinitionError(
      path,
      `${shown(name)} is no name of a type`,
      'names with dots between, such as dns.nodes.Record',
    );
}

export function requireName(name: string, path: readonly string[]): void {
  if (!NAME.test(name) || name.length > MAX_NAME)
    throw new DefinitionError(path, `${shown(name)} is no name`, 'letters, digits, _ and -');
}

export function requireFunction(value: unknown, path: readonly string[]): void {
  if (typeof value !== 'function') throw new DefinitionError(path, 'is no function', 'a function');
}

export function unknownName(path: readonly string[], name: string, valid: Iterable<string>): DefinitionError {
  const known = [...valid];
  const nearest = nearestName(name, known);
  const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
  return new DefinitionError(path, `there is no ${name}`, `${known.join(', ') || 'nothing here'}${hint}`);
}

export const shown = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, MAX_NAME);

/** A mapping begins with a name of the plugin, since blueprints find the plugin by it. */
export function requireMapping(plugin: PluginDefinition, mapping: string, path: readonly string[]): void {
  const names = [plugin.name, ...(plugin.aliases ?? [])];
  if (!TYPE_NAME.test(mapping) || !names.includes(mapping.split('.')[0]!))
    throw new DefinitionError(path, shown(mapping), `a mapping after one of ${names.join(', ')} and a dot`);
}
