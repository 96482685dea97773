import type { Diagnostic } from '../diagnostics/diagnostic';
import type { DiagnosticKind } from '../diagnostics/kinds';
import { type Entry, entriesOf, itemsOf, type MapNode, type Node, textOf } from '../yaml/node';
import type { ObjectShape, Shape } from './shape';
import { blueprintShape } from './tables';

/**
 * The order in which the original finds faults: the parts of an element before the element, referenced elements before
 * the referring one, and otherwise later elements before earlier ones. The original reports only its first fault, so we
 * report that fault first.
 */

/** Sections in the order in which their elements are checked. */
const SECTIONS = [
  'tosca_definitions_version',
  'data_types',
  'node_types',
  'plugins',
  'namespaces_mapping',
  'node_templates',
  'groups',
  'policies',
  'workflows',
  'resource_tags',
  'deployment_settings',
  'blueprint_labels',
  'labels',
  'imported_blueprints',
  'capabilities',
  'outputs',
  'policy_triggers',
  'policy_types',
  'relationships',
  'inputs',
  'metadata',
  'dsl_definitions',
  'imports',
  'description',
];

/** Check order of fields where it is not the reverse order of the tables. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  'property schema': ['type', 'description', 'default', 'required'],
  input: [
    'display',
    'hidden',
    'display_label',
    'constraints',
    'item_type',
    'type',
    'description',
    'default',
    'required',
  ],
  'workflow parameter': ['constraints', 'item_type', 'type', 'description', 'default', 'required'],
  'operation of a type': [
    'timeout_recoverable',
    'timeout',
    'retry_interval',
    'max_retries',
    'executor',
    'inputs',
    'implementation',
  ],
  'data type': ['version', 'derived_from', 'description', 'properties'],
  'plugin property': ['value', 'display_label', 'type', 'description'],
  relationship: ['target_interfaces', 'source_interfaces', 'target', 'type', 'properties'],
  'node template': ['type', 'properties', 'relationships', 'interfaces', 'capabilities', 'instances'],
  'scaling properties': ['default_instances', 'max_instances', 'min_instances'],
  group: ['policies', 'members'],
  'group policy': ['triggers', 'type', 'properties'],
  trigger: ['type', 'parameters'],
  'policy type': ['source', 'properties'],
  'policy trigger': ['source', 'parameters'],
  schedule: [
    'slip',
    'stop_after_fail',
    'default_enabled',
    'count',
    'weekdays',
    'timezone',
    'recurrence',
    'until',
    'since',
    'workflow_parameters',
    'execution_arguments',
    'workflow',
  ],
};
const SAME_FIELDS: Readonly<Record<string, string>> = {
  'operation input schema': 'input',
  'operation of a template': 'operation of a type',
  'policy properties': 'scaling properties',
};

/** Kinds that the original finds when it assembles the whole entry of a section. */
const OF_ENTRIES: ReadonlySet<DiagnosticKind> = new Set<DiagnosticKind>([
  'unresolved_node_operation',
  'unresolved_relationship_operation',
  'unresolved_workflow',
  'script_input_taken',
  'script_plugin_missing',
  'ambiguous_plugin',
  'missing_operation_input',
]);

/** An element itself comes after all its parts. */
const END = Number.POSITIVE_INFINITY;
const FIRST = Number.NEGATIVE_INFINITY;

type Rank = readonly number[];

function compareRanks(a: Rank, b: Rank): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const left = a[i] ?? END;
    const right = b[i] ?? END;
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

/** Order of kinds within the same element. */
const IN_ELEMENT: readonly DiagnosticKind[] = [
  'undefined_property',
  'external_resource_function',
  'unresolved_node_operation',
];
const turnOf = ({ kind }: Diagnostic): number => IN_ELEMENT.indexOf(kind) + 1 || IN_ELEMENT.length + 1;

/** Compares faults of one merged document by the order in which the original would find them. */
export function checkOrder(
  root: MapNode,
  placeOf: (d: Diagnostic) => string,
): (a: Diagnostic, b: Diagnostic) => number {
  const ranks = new Map<Diagnostic, Rank>();
  const places = new Places(root);
  const rankOf = (d: Diagnostic): Rank => {
    let rank = ranks.get(d);
    if (rank === undefined) ranks.set(d, (rank = places.rank(d.kind, placeOf(d))));
    return rank;
  };
  return (a, b) => compareRanks(rankOf(a), rankOf(b)) || turnOf(a) - turnOf(b);
}

class Places {
  private readonly orders = new Map<string, ReadonlyMap<string, number>>();

  constructor(private readonly root: MapNode) {}

  rank(kind: DiagnosticKind, path: string): Rank {
    if (kind === 'cycle') return [FIRST];
    const section = /^[^.[]*/.exec(path)![0];
    if (section === '' || !Object.hasOwn(blueprintShape.fields, section)) return [END];
    const shape = blueprintShape.fields[section]!.shape;
    const rank = this.walk(path.slice(section.length), shape, this.root.get(section), section);
    if (kind === 'unknown_node_type') return [SECTIONS.indexOf(section), FIRST, ...rank];
    if (OF_ENTRIES.has(kind)) rank.length = Math.min(rank.length, 1);
    return [...this.sectionRank(section), ...rank];
  }

  /** Types used only by templates or groups are checked with their first user. */
  private sectionRank(section: string): number[] {
    if (section === 'relationships')
      return this.firstUse('node_templates', 'relationships') ?? [SECTIONS.indexOf(section)];
    if (section === 'policy_triggers' || section === 'policy_types') {
      const use = this.firstUse('groups', 'policies');
      const field = section === 'policy_types' ? 'type' : 'triggers';
      if (use) return [...use, FIELDS['group policy']!.indexOf(field), FIRST];
    }
    return [SECTIONS.indexOf(section)];
  }

  private firstUse(section: 'node_templates' | 'groups', field: string): number[] | null {
    const node = this.root.get(section);
    const order = this.entryOrder(section, node);
    let first = END;
    for (const { name, value } of entriesOf(node)) {
      const uses = value.kind === 'map' ? value.get(field) : undefined;
      if (itemsOf(uses).length + entriesOf(uses).length > 0) first = Math.min(first, order.get(name)!);
    }
    const fields = FIELDS[section === 'groups' ? 'group' : 'node template']!;
    return first === END ? null : [SECTIONS.indexOf(section), first, fields.indexOf(field), FIRST];
  }

  private walk(rest: string, shape: Shape, node: Node | undefined, section: string | null): number[] {
    if (rest === '') return [];
    if (shape.t === 'either') {
      const chosen = shape.of.find((s) => s.t === 'object');
      return chosen ? this.walk(rest, chosen, node, null) : [];
    }
    if (shape.t === 'list') {
      const index = /^\[(\d+)\]/.exec(rest);
      if (!index) return [];
      const i = Number(index[1]);
      return [-i, ...this.walk(rest.slice(index[0].length), shape.of, itemsOf(node)[i], null)];
    }
    if (!rest.startsWith('.')) return [];
    const names = rest.slice(1);
    if (shape.t === 'object') {
      const name = longestPrefix(names, Object.keys(shape.fields));
      if (name === null) return [];
      const value = node?.kind === 'map' ? node.get(name) : undefined;
      return [
        fieldsOf(shape).indexOf(name),
        ...this.walk(names.slice(name.length), shape.fields[name]!.shape, value, null),
      ];
    }
    if (shape.t !== 'named') return [];
    const entries = entriesOf(node);
    const name = longestPrefix(
      names,
      entries.map((e) => e.name),
    );
    if (name === null) return [];
    const at = entries.findIndex((e) => e.name === name);
    const position = section === null ? -at : this.entryOrder(section, node).get(name)!;
    return [position, ...this.walk(names.slice(name.length), shape.of, entries[at]!.value, null)];
  }

  /** Positions of a section's entries: the last one first, but referenced entries before the referring one. */
  private entryOrder(section: string, node: Node | undefined): ReadonlyMap<string, number> {
    let order = this.orders.get(section);
    if (order === undefined) this.orders.set(section, (order = backwards(section, entriesOf(node))));
    return order;
  }
}

function relationshipsOf(template: Node): readonly Node[] {
  return template.kind === 'map' ? itemsOf(template.get('relationships')) : [];
}

function referencesOf(section: string, node: Node): string[] {
  if (node.kind !== 'map') return [];
  const field = (value: Node, name: string): Node | undefined =>
    value.kind === 'map' ? value.get(name) : undefined;
  const nodes =
    section === 'node_templates'
      ? relationshipsOf(node).map((r) => field(r, 'target'))
      : [
          node.get('derived_from'),
          ...(section === 'data_types' ? entriesOf(node.get('properties')) : []).map((p) =>
            field(p.value, 'type'),
          ),
        ];
  return nodes.map(textOf).filter((name) => name !== undefined);
}

function backwards(section: string, entries: readonly Entry[]): Map<string, number> {
  const byName = new Map(entries.map((e) => [e.name, e.value]));
  const order = new Map<string, number>();
  const opened = new Set<string>();
  const open = [...byName.keys()];
  while (open.length > 0) {
    const name = open[open.length - 1]!;
    const value = byName.get(name);
    if (value === undefined || order.has(name)) open.pop();
    else if (opened.has(name)) {
      open.pop();
      order.set(name, order.size);
    } else {
      opened.add(name);
      open.push(...referencesOf(section, value).filter((other) => !opened.has(other)));
    }
  }
  return order;
}

function fieldsOf(shape: ObjectShape): readonly string[] {
  const name = Object.hasOwn(SAME_FIELDS, shape.name) ? SAME_FIELDS[shape.name]! : shape.name;
  return FIELDS[name] ?? Object.keys(shape.fields).reverse();
}

/** Returns the longest of `names` at the begin of the text that is a whole step of a path. */
function longestPrefix(text: string, names: readonly string[]): string | null {
  let longest: string | null = null;
  for (const name of names) {
    if (!text.startsWith(name) || (longest !== null && longest.length >= name.length)) continue;
    const next = text[name.length];
    if (next === undefined || next === '.' || next === '[') longest = name;
  }
  return longest;
}
