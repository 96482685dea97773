/** Completions at a cursor: keys of the language, and names that the blueprint declares. Pure. */

import { primitiveTypes } from '../elements/primitive-types';
import { supportedVersions } from '../elements/version';
import { functionStages } from '../functions/registry';
import { type Shape, shapeName } from '../schema/shape';
import { blueprintShape } from '../schema/tables';
import { type Ancestor, type Cursor, childText, cursorAt } from './cursor';
import type { BlueprintOutline, OutlineProperty, OutlineType } from './outline';

export interface Completion {
  label: string;
  kind: 'key' | 'type' | 'name' | 'value' | 'function';
  /** Short text beside the label. */
  detail?: string;
  /** Longer text for people. */
  doc?: string;
  /** Inserted text, when it differs from the label. */
  text?: string;
}

export interface Completions {
  /** Start of the replaced word. */
  from: number;
  options: Completion[];
}

const MOST_OPTIONS = 2000;
const FUNCTIONS = Object.keys(functionStages);
const OF_NODES = new Set(['get_property', 'get_attribute', 'get_attributes_list', 'get_attributes_dict']);
const SELVES = ['SELF', 'SOURCE', 'TARGET'];

/** Returns the completions. `outline`: the outline of the last readable text; null without one. */
export function completeBlueprint(
  text: string,
  offset: number,
  outline: BlueprintOutline | null,
): Completions | null {
  const cursor = cursorAt(text, offset);
  if (cursor === null) return null;
  const found = candidates({ text, cursor, outline, path: cursor.ancestors.map(({ key }) => key) });
  const options = found.filter(({ label }) => !cursor.siblings.has(label)).slice(0, MOST_OPTIONS);
  return options.length === 0 ? null : { from: offset - cursor.prefix.length, options };
}

interface Place {
  text: string;
  cursor: Cursor;
  outline: BlueprintOutline | null;
  path: string[];
}

function candidates(place: Place): Completion[] {
  const { cursor, path } = place;
  // Arguments of a function in their own lines: the last key of the path is the function.
  const last = path.at(-1);
  if (cursor.key === null && cursor.item !== null && last !== undefined && FUNCTIONS.includes(last))
    return functionArguments(place, last, cursor.item);
  if (cursor.key !== null) {
    if (FUNCTIONS.includes(cursor.key)) return functionArguments(place, cursor.key, cursor.item ?? 0);
    return valuesOf(place, cursor.key);
  }
  if (cursor.item !== null && cursor.ancestors.length > 0) return [...itemsOf(place), ...keysOf(place)];
  return keysOf(place);
}

/** Returns the shape at a path; null: the language does not define it. */
function shapeAt(path: readonly string[]): Shape | null {
  let shape: Shape | null = blueprintShape;
  for (const key of path) shape = step(shape, key);
  return shape && plain(shape);
}

/** Resolves a list to its items, and alternatives to the one with keys. */
function plain(shape: Shape): Shape {
  if (shape.t === 'list') return plain(shape.of);
  if (shape.t === 'either')
    return shape.of.map(plain).find(({ t }) => t === 'object' || t === 'named') ?? shape;
  return shape;
}

function step(shape: Shape | null, key: string): Shape | null {
  if (shape === null) return null;
  const here = plain(shape);
  if (here.t === 'named') return here.of;
  if (here.t === 'object') return Object.hasOwn(here.fields, key) ? here.fields[key]!.shape : null;
  return null;
}

function keysOf(place: Place): Completion[] {
  const known = declaredKeys(place);
  if (known) return known;
  const shape = shapeAt(place.path);
  if (shape?.t === 'object')
    return Object.entries(shape.fields).map(([label, { shape: of, doc, required }]) => ({
      label,
      kind: 'key',
      detail: `${shapeName(of)}${required ? ', required' : ''}`,
      ...(doc ? { doc } : {}),
      text: `${label}: `,
    }));
  const isFree = shape === null || shape.t === 'value' || shape.t === 'dict' || shape.t === 'either';
  return isFree && place.path.length > 1 ? functions(false) : [];
}

/** Returns the keys that the type of a node or relationship declares. */
function declaredKeys(place: Place): Completion[] | null {
  const { path, outline } = place;
  const owner = typedOwner(place);
  if (!owner || !outline) return null;
  const [section, ...rest] = path.slice(owner.depth);
  if (section === 'interfaces' || section === 'source_interfaces' || section === 'target_interfaces') {
    if (rest.length === 0) return keys(owner.type.interfaces.keys());
    if (rest.length === 1) return keys(owner.type.interfaces.get(rest[0]!) ?? []);
    return null;
  }
  if (section !== 'properties') return null;
  const schema = schemaAt(owner.type.properties, rest, outline);
  return (
    schema &&
    [...schema].map(([label, property]) => ({
      ...described(property),
      label,
      kind: 'key',
      text: `${label}: `,
    }))
  );
}

const keys = (names: Iterable<string>): Completion[] =>
  [...names].map((label) => ({ label, kind: 'key', text: `${label}: ` }));

/** Follows the path through data types to the typed mapping; null where no type declares its content. */
function schemaAt(
  properties: OutlineType['properties'],
  path: readonly string[],
  outline: BlueprintOutline,
): OutlineType['properties'] | null {
  let schema = properties;
  for (const key of path) {
    const type = outline.dataTypes.get(schema.get(key)?.type ?? '');
    if (!type) return null;
    schema = type.properties;
  }
  return schema;
}

function described({
  type,
  description,
  isRequired,
  default: given,
}: OutlineProperty): Omit<Completion, 'label' | 'kind'> {
  const detail = [type, isRequired && 'required', given !== undefined && `default ${JSON.stringify(given)}`]
    .filter(Boolean)
    .join(', ')
    .slice(0, 120);
  return { ...(detail && { detail }), ...(description && { doc: description }) };
}

/** Returns the node template, or its relationship, that contains the cursor, with its type. */
function typedOwner({ text, cursor, path, outline }: Place): { type: OutlineType; depth: number } | null {
  if (path[0] !== 'node_templates' || !outline) return null;
  const isRelationship = path[2] === 'relationships';
  if (isRelationship) return relationshipOwner(text, cursor.ancestors, outline);
  const node = cursor.ancestors[1];
  const type = node && outline.nodeTypes.get(childText(text, node, 'type') ?? '');
  return type ? { type, depth: 2 } : null;
}

/** Finds the relationship that contains the cursor: its type stands above, at the indentation of the item's keys. */
function relationshipOwner(
  text: string,
  ancestors: readonly Ancestor[],
  outline: BlueprintOutline,
): { type: OutlineType; depth: number } | null {
  const key = ancestors[3];
  if (!key) return null;
  const lines = text.split('\n', key.line + 1);
  for (let i = key.line; i > ancestors[2]!.line; i--) {
    const match = /^(\s*(?:-\s+)?)type:\s+(\S+)/.exec(lines[i]!);
    if (match === null || match[1]!.length !== key.indent) continue;
    const type = outline.relationshipTypes.get(match[2]!);
    return type ? { type, depth: 3 } : null;
  }
  return null;
}

function valuesOf(place: Place, key: string): Completion[] {
  const { path, outline } = place;
  if (path.length === 0 && key === 'tosca_definitions_version')
    return supportedVersions.map((label) => ({ label, kind: 'value' }));
  const names = namesFor(place, key);
  if (names) return names;
  const owner = typedOwner(place);
  if (owner && outline && path[owner.depth] === 'properties') {
    const schema = schemaAt(owner.type.properties, path.slice(owner.depth + 1), outline);
    return [...(schema?.get(key)?.type === 'boolean' ? booleans : []), ...functions(true)];
  }
  const found = step(shapeAt(path), key);
  const shape = found && (found.t === 'either' ? found : plain(found));
  if (shape?.t === 'boolean') return booleans;
  return shape === null || shape.t === 'value' || shape.t === 'dict' || shape.t === 'either'
    ? functions(true)
    : [];
}

const booleans: Completion[] = ['true', 'false'].map((label) => ({ label, kind: 'value' }));

/** Returns names of types and nodes, where the language expects one; null elsewhere. */
function namesFor({ path, outline }: Place, key: string): Completion[] | null {
  const [section] = path;
  if (key === 'executor')
    return ['central_deployment_agent', 'host_agent'].map((label) => ({ label, kind: 'value' }));
  if (!outline) return null;
  const isOfRelationship = section === 'node_templates' && path[2] === 'relationships' && path.length === 3;
  if (isOfRelationship && key === 'type') return types(outline.relationshipTypes);
  if (isOfRelationship && key === 'target') return nodes(outline);
  if (section === 'node_templates' && path.length === 2 && key === 'type') return types(outline.nodeTypes);
  if (key === 'derived_from') {
    if (section === 'node_types') return types(outline.nodeTypes);
    if (section === 'relationships') return types(outline.relationshipTypes);
    if (section === 'data_types') return types(outline.dataTypes);
  }
  const isSchema =
    section === 'inputs' ? path.length === 2 : path.at(-2) === 'properties' && path.length === 4;
  if ((key === 'type' || key === 'item_type') && isSchema && section !== 'node_templates')
    return [
      ...[...primitiveTypes].map(([label, { doc }]): Completion => ({ label, kind: 'type', doc })),
      ...types(outline.dataTypes),
    ];
  return null;
}

const types = (all: ReadonlyMap<string, OutlineType>): Completion[] =>
  [...all].map(([label, { parents }]) => ({
    label,
    kind: 'type',
    ...(parents[0] ? { detail: parents[0] } : {}),
  }));

const nodes = ({ nodes: all }: BlueprintOutline): Completion[] =>
  all.map(({ name, type }) => ({ label: name, kind: 'name', detail: type }));

function functionArguments({ outline, text, cursor }: Place, name: string, item: number): Completion[] {
  if (!outline) return [];
  if (name === 'get_input')
    return item > 0
      ? []
      : [...outline.inputs].map(([label, input]) => ({ ...described(input), label, kind: 'name' }));
  if (!OF_NODES.has(name)) return [];
  if (item === 0)
    return [...nodes(outline), ...SELVES.map((label): Completion => ({ label, kind: 'value' }))];
  if (item > 1) return [];
  const type = outline.nodeTypes.get(nodeTypeOf(cursor.first, cursor, outline, text) ?? '');
  return [...(type?.properties ?? [])].map(([label, property]) => ({
    ...described(property),
    label,
    kind: 'name',
  }));
}

/** Type of the named node; SELF is the node that contains the cursor. */
function nodeTypeOf(
  name: string,
  cursor: Cursor,
  outline: BlueprintOutline,
  text: string,
): string | undefined {
  const own = cursor.ancestors[0]?.key === 'node_templates' ? cursor.ancestors[1] : undefined;
  if (name === 'SELF') return own && childText(text, own, 'type');
  return outline.nodes.find((node) => node.name === name)?.type;
}

function itemsOf({ path, outline }: Place): Completion[] {
  const [section] = path;
  if (section === 'imports' && path.length === 1)
    return [
      { label: 'cloudify/types/types.yaml', kind: 'value', detail: 'built-in types' },
      { label: 'plugin:', kind: 'value', detail: 'an installed plugin' },
    ];
  if (!outline) return [];
  if (section === 'groups' && path.at(-1) === 'members') return nodes(outline);
  if (section === 'policies' && path.at(-1) === 'targets')
    return outline.groups.map((label) => ({ label, kind: 'name' }));
  return [];
}

/** `isWhole`: with the braces of an inline mapping. */
const functions = (isWhole: boolean): Completion[] =>
  FUNCTIONS.map((name) => ({
    label: name,
    kind: 'function',
    text: isWhole ? `{ ${name}: ` : `${name}: `,
  }));
