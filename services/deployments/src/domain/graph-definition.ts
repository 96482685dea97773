import type { JsonObject } from '@baton/kernel';

type Operations = Record<string, { operation?: unknown }>;

interface Definition {
  type_hierarchy: unknown;
  operations: Record<string, unknown>;
  plugins: unknown[];
  relationships: unknown[];
}

/**
 * What graphs are made from of the part that nodes share: a type's interfaces mostly hold operations that nobody has
 * implemented, which are nine tenths of it.
 */
export function graphDefinition(definition: Definition): JsonObject {
  return {
    type_hierarchy: definition.type_hierarchy,
    operations: implemented(definition.operations as Operations),
    plugins: definition.plugins,
    relationships: (definition.relationships as JsonObject[]).map((relationship) => ({
      ...relationship,
      source_operations: implemented(relationship.source_operations as Operations | undefined),
      target_operations: implemented(relationship.target_operations as Operations | undefined),
    })),
  } as JsonObject;
}

function implemented(operations: Operations | undefined): JsonObject {
  const found = Object.entries(operations ?? {}).filter(([, { operation }]) => operation !== '');
  return Object.fromEntries(found) as JsonObject;
}
