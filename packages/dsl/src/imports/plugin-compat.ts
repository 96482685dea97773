import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { primitiveTypes } from '../elements/primitive-types';
import { setOwn, toJson } from '../yaml/node';
import { readYaml } from '../yaml/reader';

/**
 * Derives the description of a plugin for blueprints of version 1_3 from one for newer versions (reference 2.2,
 * "Back-compat"): object types become strings without constraints; item types and availability rules are removed. Null
 * when the text needs no change or is not YAML. The result is JSON, which is YAML too.
 */
export function derivePluginYaml13(text: string): string | null {
  const { root, error } = readYaml(null, text);
  if (error !== null || root?.kind !== 'map') return null;
  const before = toJson(root) as JsonObject;
  const after = mapEntries(before, (value, section) => changeSection(section, value));
  return JSON.stringify(after) === JSON.stringify(before) ? null : `${JSON.stringify(after, null, 2)}\n`;
}

function mapEntries(value: Json, change: (value: Json, key: string) => Json | undefined): Json {
  if (!isJsonObject(value)) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    const changed = change(value[key]!, key);
    if (changed !== undefined) setOwn(result, key, changed);
  }
  return result;
}

function changeSection(section: string, value: Json): Json {
  switch (section) {
    case 'inputs':
      return mapEntries(value, changeSchema);
    case 'data_types':
    case 'node_types':
      return mapEntries(value, (type) =>
        under(type, 'properties', (schemas) => mapEntries(schemas, changeSchema)),
      );
    case 'relationships':
      return mapEntries(value, (type) =>
        under(under(type, 'source_interfaces', changeInterfaces), 'target_interfaces', changeInterfaces),
      );
    case 'workflows':
      return mapEntries(value, changeWorkflow);
    default:
      return value;
  }
}

/** Returns `value` with the changed content of `key`. */
function under(value: Json, key: string, change: (value: Json) => Json): Json {
  return mapEntries(value, (inner, name) => (name === key ? change(inner) : inner));
}

function changeInterfaces(interfaces: Json): Json {
  return mapEntries(interfaces, (operations) =>
    mapEntries(operations, (operation) =>
      under(operation, 'inputs', (schemas) => mapEntries(schemas, changeSchema)),
    ),
  );
}

function changeWorkflow(workflow: Json): Json {
  const parameters = under(workflow, 'parameters', (schemas) => mapEntries(schemas, changeSchema));
  return mapEntries(parameters, (value, key) => (key === 'availability_rules' ? undefined : value));
}

function changeSchema(schema: Json): Json | undefined {
  if (!isJsonObject(schema)) return schema;
  if (Object.hasOwn(schema, 'item_type')) return undefined;
  const isObject = typeof schema.type === 'string' && primitiveTypes.get(schema.type)?.isObject === true;
  if (!isObject) return schema;
  return mapEntries(schema, (value, key) =>
    key === 'constraints' ? undefined : key === 'type' ? 'string' : value,
  );
}
