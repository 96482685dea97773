import type { Json, JsonObject } from '@baton/kernel';
import { checkConstraints } from '../constraints/declared';
import { isFunctionNode } from '../functions/registry';
import { gate } from '../schema/check-shape';
import { childOf, entriesOf, isNull, type MapNode, type Node, setOwn, textOf, toJson } from '../yaml/node';
import type { DataTypes } from './data-types';
import type { ElementContext } from './element-context';
import { primitiveTypes } from './primitive-types';
import { checkType, jsonOf } from './properties';
import type { PropertySchema } from './property-schema';
import { fitsPrimitive, isGiven, typedValue, typeOf, type ValueCheck } from './typed-value';

/** Parses the inputs (reference 2.3): the author's keys with the default completed. */
export function parseInputs(context: ElementContext, dataTypes: DataTypes): JsonObject {
  const result: JsonObject = {};
  for (const entry of entriesOf(context.root.get('inputs'))) {
    setOwn(
      result,
      entry.name,
      entry.value.kind === 'map' ? (parseInput(context, dataTypes, entry.name, entry.value) as Json) : {},
    );
  }
  return result;
}

function parseInput(context: ElementContext, dataTypes: DataTypes, name: string, node: MapNode): JsonObject {
  const path = `inputs.${name}`;
  const type = typeOf(node);
  const given = node.get('default');
  // an unknown item type has its own error code
  checkType(context, dataTypes, node, path);
  let value = given;
  if (isGiven(given)) {
    const check: ValueCheck = {
      context,
      dataTypes,
      owner: `input "${name}"`,
      path: `${path}.default`,
      allowMissing: false,
    };
    value = typedValue(check, given, type, undefined, check.path);
  }
  const required = childOf(node, 'required');
  const schema: PropertySchema = {
    type,
    default: isGiven(value) ? value : undefined,
    required: !(required?.kind === 'scalar' && required.value === false),
    node,
  };
  checkItemType(context, schema, `input "${name}"`, path);
  checkConstraints(context, node.get('constraints'), `${path}.constraints`, true);
  checkPresentation(context, schema, name, path);
  const result: JsonObject = {};
  for (const entry of node.entries) {
    if (entry.name === 'default') result.default = value === undefined ? null : jsonOf(value);
    else setOwn(result, entry.name, toJson(entry.value));
  }
  return result;
}

function checkPresentation(
  context: ElementContext,
  schema: PropertySchema,
  name: string,
  path: string,
): void {
  const { node } = schema;
  const hidden = node.get('hidden');
  if (hidden?.kind === 'scalar' && hidden.value === true && schema.required && !node.has('default')) {
    context.diagnostics.report(
      'hidden_required_input',
      `the hidden input "${name}" is required but has no default`,
      { at: hidden, path: `${path}.hidden`, checkedAt: path, expected: 'a default, or required: false' },
    );
  }
  const display = node.get('display');
  if (isGiven(display) && schema.type !== 'textarea') {
    context.diagnostics.report(
      'display_without_textarea',
      `"display" of the input "${name}" needs the type textarea`,
      { at: display, path: `${path}.display`, value: schema.type, expected: 'type: textarea' },
    );
  }
}

/** Checks that `item_type` is used only with lists, names a primitive type, and matches every item of the default. */
export function checkItemType(
  context: ElementContext,
  schema: PropertySchema,
  owner: string,
  path: string,
): void {
  const node = childOf(schema.node, 'item_type');
  const itemType = textOf(node);
  if (node === undefined || isNull(node) || itemType === undefined) return;
  if (schema.type !== 'list') {
    context.diagnostics.report('item_type_without_list', `${owner} has item_type but is not a list`, {
      at: node,
      path: `${path}.item_type`,
      expected: 'type: list',
    });
    return;
  }
  const primitive = primitiveTypes.get(itemType);
  if (!primitive) {
    context.diagnostics.report(
      'item_type_not_primitive',
      `the item_type "${itemType}" of ${owner} is not a primitive type`,
      { at: node, path: `${path}.item_type`, name: itemType, valid: primitiveTypes.keys() },
    );
    return;
  }
  if (primitive.since) gate(context, `the type ${itemType}`, primitive.since, node, `${path}.item_type`);
  checkItems(context, schema.default, itemType, owner, path);
}

function checkItems(
  context: ElementContext,
  value: Node | undefined,
  itemType: string,
  owner: string,
  path: string,
): void {
  if (value?.kind !== 'seq' || isFunctionNode(value)) return;
  value.items.forEach((item, i) => {
    if (fitsPrimitive(item, itemType)) return;
    context.diagnostics.report('type_mismatch', `item ${i} of ${owner} is not of the type ${itemType}`, {
      at: item,
      path: `${path}.default[${i}]`,
      expected: itemType,
    });
  });
}
