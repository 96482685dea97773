import type { Json } from '@baton/kernel';
import type { PluginDefinition } from '../define/definition';
import type { AnyNodeType } from '../define/node-type';
import { derivedOf, inputsOf, mappingOf, operationsOf } from '../define/operation-names';
import type { RelationshipType } from '../define/relationship-type';
import { workflowMapping } from '../define/workflow-type';
import { sidesOf } from '../run/operations';
import { type Described, describeShape, type ObjectSchema } from '../schema/describe';

type Row = readonly string[];

/** A page in Markdown about a plugin: types, properties, runtime properties, operations, inputs and mappings. */
export function docsPage(plugin: PluginDefinition): string {
  const { name, version, description, aliases = [], secrets = [] } = plugin;
  const parts = [
    `# ${name} ${version}`,
    description ?? '',
    `Blueprints import it as \`plugin:${name}\`.${listed(' Its operations begin with', [name, ...aliases])}`,
    secrets.length === 0 ? '' : `It reads these secrets of the tenant: ${codes(secrets)}.`,
    ...Object.entries(plugin.types).map(([type, spec]) => typeSection(plugin, type, spec)),
    ...Object.entries(plugin.relationships ?? {}).map(([type, spec]) =>
      relationshipSection(plugin, type, spec),
    ),
    directSection(plugin),
    workflowSection(plugin),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function typeSection(plugin: PluginDefinition, name: string, type: AnyNodeType): string {
  const { aliases = [], derivedFrom = 'cloudify.nodes.Root', description = '', compare = [] } = type;
  const drift =
    type.drift === undefined
      ? listed('It drifts when one of these differs:', compare)
      : 'The plugin finds drift itself.';
  return sections(`## ${name}`, [
    description,
    `Derived from \`${derivedFrom}\`.${listed(' Other names:', aliases)}`,
    drift.trim(),
    valuesTable('Properties', type.properties),
    runtimeTable(type.runtime),
    operationsTable(plugin, name, type),
    // An operation may stand in several interfaces.
    inputsTables(
      [...new Set(operationsOf(type, plugin.name).map(({ name: operation }) => operation))].map(
        (operation) => ({
          operation,
          schema: inputsOf(type, operation),
        }),
      ),
    ),
  ]);
}

function operationsTable(plugin: PluginDefinition, name: string, type: AnyNodeType): string {
  const derived = derivedOf(type) as string[];
  const rows = operationsOf(type, plugin.name).map(({ name: operation, interface: of }): Row => {
    const mapping = type.mappings?.[operation] ?? `${plugin.name}.${mappingOf(name, operation)}`;
    const onlyReads = derived.includes(operation) && operation !== 'heal';
    const mayRepeat = onlyReads || (type.resumable as readonly string[] | undefined)?.includes(operation);
    return [code(`${of}.${operation}`), code(mapping), mayRepeat ? 'runs again' : 'fails, a person decides'];
  });
  return table('Operations', ['Operation', 'Mapping', 'After the loss of its worker'], rows);
}

function relationshipSection(plugin: PluginDefinition, name: string, type: RelationshipType): string {
  const { aliases = [], derivedFrom = 'cloudify.relationships.connected_to', description = '' } = type;
  const rows = sidesOf(type).map(({ side, name: operation }): Row => {
    const own = `${plugin.name}.${mappingOf(name, `${side}.${operation}`)}`;
    return [code(`${side}.${operation}`), code(type.mappings?.[side]?.[operation] ?? own)];
  });
  return sections(`## ${name}`, [
    description,
    `A relationship, derived from \`${derivedFrom}\`.${listed(' Other names:', aliases)}`,
    valuesTable('Properties', type.properties),
    table('Operations', ['Operation', 'Mapping'], rows),
    inputsTables(
      sidesOf(type).map(({ side, name: operation }) => ({
        operation: `${side}.${operation}`,
        schema: type.inputs?.[side]?.[operation],
      })),
    ),
  ]);
}

function directSection({ name, operations = {} }: PluginDefinition): string {
  const all = Object.entries(operations);
  if (all.length === 0) return '';
  return sections('## Operations that blueprints name directly', [
    table(
      '',
      ['Mapping'],
      all.map(([mapping]) => [code(`${name}.${mapping}`)]),
    ),
    inputsTables(
      all.map(([operation, spec]) => ({
        operation,
        schema: typeof spec === 'function' ? undefined : spec.inputs,
      })),
    ),
  ]);
}

function workflowSection({ name, workflows = {} }: PluginDefinition): string {
  const all = Object.entries(workflows);
  if (all.length === 0) return '';
  return sections('## Workflows', [
    table(
      '',
      ['Workflow', 'Mapping'],
      all.map(([workflow, spec]) => [code(workflow), code(`${name}.${workflowMapping(workflow, spec)}`)]),
    ),
    inputsTables(
      all.map(([operation, { parameters }]) => ({ operation, schema: parameters })),
      'Parameters',
    ),
  ]);
}

const inputsTables = (
  operations: readonly { operation: string; schema: ObjectSchema | undefined }[],
  what = 'Inputs',
): string =>
  operations
    .map(({ operation, schema }) => valuesTable(`${what} of ${operation}`, schema))
    .filter((part) => part !== '')
    .join('\n\n');

/** Members of an object, and those of objects in it. Empty for a schema without members. */
function valuesTable(title: string, schema: ObjectSchema | undefined): string {
  const rows = schema === undefined ? [] : rowsOf(schema, '');
  return table(title, ['Name', 'Type', 'Default', 'Meaning'], rows);
}

/** No operation has set them at the beginning, so none is required. */
function runtimeTable(schema: ObjectSchema | undefined): string {
  const rows = schema === undefined ? [] : rowsOf(schema, '');
  return table(
    'Runtime properties',
    ['Name', 'Type', 'Meaning'],
    rows.map(([name, type, , about]) => [name!, type!, about!]),
  );
}

function rowsOf(schema: ObjectSchema, before: string): Row[] {
  return Object.entries(describeShape(schema, [])).flatMap(([name, described]): Row[] => {
    const row = [code(`${before}${name}`), typeText(described), defaultText(described), meaning(described)];
    return [row, ...(described.object === undefined ? [] : rowsOf(described.object, `${before}${name}.`))];
  });
}

const typeText = ({ type, object, constraints }: Described): string => {
  const bounds = constraints.flatMap((one) =>
    Object.entries(one).map(([kind, value]) => boundText(kind, value)),
  );
  return [object === undefined ? (type ?? 'any') : 'dict', ...bounds].join(', ');
};

const BOUNDS: Readonly<Record<string, string>> = {
  greater_or_equal: 'at least',
  greater_than: 'more than',
  less_or_equal: 'at most',
  less_than: 'less than',
  min_length: 'length at least',
  max_length: 'length at most',
};

const boundText = (kind: string, value: Json): string =>
  kind === 'valid_values' ? codes((value as Json[]).map(String)) : `${BOUNDS[kind] ?? kind} ${String(value)}`;

function defaultText({ default: value, isRequired }: Described): string {
  if (value === undefined) return isRequired ? 'required' : '';
  return code(typeof value === 'string' && value !== '' ? value : JSON.stringify(value));
}

const meaning = ({ description = '', isSensitive }: Described): string =>
  isSensitive ? `Hidden. ${description}`.trim() : description;

const sections = (title: string, parts: readonly string[]): string =>
  [title, ...parts].filter((part) => part !== '').join('\n\n');

function table(title: string, head: Row, rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  const line = (cells: Row): string => `| ${cells.map(cell).join(' | ')} |`;
  const lines = [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
  return title === '' ? lines : `**${title}**\n\n${lines}`;
}

/** A text for a cell: no line break, no bar that would end it, and no element of HTML. */
const cell = (text: string): string =>
  text
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll('|', '\\|')
    .replace(/<(?=[a-z!/?])/gi, '&lt;');
const code = (text: string): string => `\`${text.replaceAll('`', "'")}\``;
const codes = (texts: readonly string[]): string => texts.map(code).join(', ');
const listed = (before: string, texts: readonly string[]): string =>
  texts.length === 0 ? '' : `${before} ${codes(texts)}.`;
