import {
  refuseInnerMarks,
  requireFunction,
  requireMapping,
  requireTypeName,
  schemaOf,
  unknownName,
} from './check-parts';
import type { PluginDefinition } from './definition';
import { type OfSides, RELATIONSHIP_OPERATIONS, type RelationshipType } from './relationship-type';

/** @throws DefinitionError at the first mistake */
export function checkRelationshipType(
  plugin: PluginDefinition,
  type: RelationshipType,
  path: readonly string[],
): void {
  const { derivedFrom, properties, source, target, inputs, mappings, resumable = [] } = type;
  if (derivedFrom !== undefined) requireTypeName(derivedFrom, [...path, 'derivedFrom']);
  schemaOf(properties, [...path, 'properties']);
  const written: string[] = [];
  eachOf({ source, target }, path, RELATIONSHIP_OPERATIONS, (work, at, name) => {
    requireFunction(work, at);
    written.push(name);
  });
  const names = (side: string): string[] =>
    written.filter((name) => name.startsWith(`${side}.`)).map((name) => name.slice(side.length + 1));
  eachOf(inputs, [...path, 'inputs'], names, (schema, at) => {
    schemaOf(schema, at);
    refuseInnerMarks(schema, at);
  });
  eachOf(mappings, [...path, 'mappings'], names, (mapping, at) => requireMapping(plugin, mapping, at));
  for (const name of resumable)
    if (!written.includes(name)) throw unknownName([...path, 'resumable'], name, written);
}

function eachOf<T>(
  sides: OfSides<T> | undefined,
  path: readonly string[],
  valid: readonly string[] | ((side: string) => string[]),
  check: (value: T, at: readonly string[], name: string) => void,
): void {
  for (const side of ['source', 'target'] as const)
    for (const [name, value] of Object.entries(sides?.[side] ?? {}) as [string, T][]) {
      const known = typeof valid === 'function' ? valid(side) : valid;
      if (!known.includes(name)) throw unknownName([...path, side], name, known);
      check(value, [...path, side, name], `${side}.${name}`);
    }
}
