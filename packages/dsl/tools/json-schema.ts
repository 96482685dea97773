import { primitiveTypes } from '../src/elements/primitive-types';
import { supportedVersions } from '../src/elements/version';
import { functionStages } from '../src/functions/registry';
import type { ObjectShape, Shape } from '../src/schema/shape';
import { blueprintShape } from '../src/schema/tables';

type Schema = Record<string, unknown>;

/** JSON Schema (2020-12) of the blueprint language, for editors: the form of elements, not the targets of names. */
export function jsonSchema(): Schema {
  const definitions: Schema = {};
  const root = objectSchema(blueprintShape, definitions);
  const properties = root.properties as Record<string, Schema>;
  properties.tosca_definitions_version = {
    enum: supportedVersions,
    description: 'Definitions version of the blueprint.',
  };
  properties.imports = {
    type: 'array',
    description: properties.imports!.description,
    items: {
      anyOf: [
        { type: 'string' },
        { type: 'object', minProperties: 1, maxProperties: 1, additionalProperties: { type: 'object' } },
      ],
    },
  };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Blueprint',
    ...root,
    required: ['tosca_definitions_version'],
    $defs: {
      ...definitions,
      'intrinsic function': {
        type: 'object',
        minProperties: 1,
        maxProperties: 2,
        anyOf: Object.keys(functionStages).map((name) => ({ required: [name] })),
      },
      'primitive type': { enum: [...primitiveTypes.keys()] },
    },
  };
}

function schemaOf(shape: Shape, definitions: Schema): Schema {
  switch (shape.t) {
    case 'text':
      return { type: 'string' };
    case 'integer':
      return { type: 'integer' };
    case 'number':
      return { type: 'number' };
    case 'boolean':
      return { type: 'boolean' };
    case 'value':
      return {};
    case 'dict':
      return { type: 'object' };
    case 'list':
      return { type: 'array', items: schemaOf(shape.of, definitions) };
    case 'named':
      return { type: 'object', additionalProperties: nullable(shape.of, definitions) };
    case 'either':
      return { anyOf: shape.of.map((s) => schemaOf(s, definitions)) };
    case 'object': {
      if (!Object.hasOwn(definitions, shape.name)) {
        definitions[shape.name] = {};
        definitions[shape.name] = objectSchema(shape, definitions);
      }
      return { $ref: `#/$defs/${encodeURIComponent(shape.name)}` };
    }
  }
}

/** Allows null for an element unless it has a required key. */
function nullable(shape: Shape, definitions: Schema): Schema {
  const schema = schemaOf(shape, definitions);
  const needsKey =
    shape.t === 'object' &&
    (shape.nullKind !== undefined || Object.values(shape.fields).some((f) => f.required));
  if (shape.t === 'value' || needsKey) return schema;
  return { anyOf: [schema, { type: 'null' }] };
}

function objectSchema(shape: ObjectShape, definitions: Schema): Schema {
  const properties: Schema = {};
  for (const [name, field] of Object.entries(shape.fields)) {
    const since = field.since ? `Since ${field.since.join('.')}.` : null;
    const description = [field.doc, since].filter((t) => t != null).join(' ');
    const schema = schemaOf(field.shape, definitions);
    const isOpen = field.required || Object.keys(schema).length === 0;
    properties[name] = {
      ...(isOpen ? schema : { anyOf: [schema, { type: 'null' }] }),
      ...(description === '' ? {} : { description }),
    };
  }
  const required = Object.entries(shape.fields)
    .filter(([, f]) => f.required)
    .map(([name]) => name);
  return {
    type: 'object',
    additionalProperties: false,
    properties,
    ...(required.length > 0 ? { required } : {}),
  };
}
