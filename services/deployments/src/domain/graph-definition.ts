import type { JsonObject } from '@baton/kernel';

type Operations = Record<string, { operation?: unknown }>;

interface Definition {
  type_hierarchy: unknown;
  operations: Record<string, unknown>;
  plugins: unknown[];
  relationships: unknown[];
}

/**
 * Returns the parts of a shared node definition from which task graphs are made. Most operations of a type's interfaces have no
 * implementation; they are nine tenths of the definition.
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
