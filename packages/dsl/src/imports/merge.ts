import type { Diagnostics } from '../diagnostics/diagnostic';
import {
  childOf,
  type Entry,
  entriesOf,
  isNull,
  isString,
  itemsOf,
  MapNode,
  type Node,
  SeqNode,
} from '../yaml/node';

/** Merges the sections of imported files into one document (reference 2.2, "Merging rules"). */

type Rule =
  | 'ignore'
  | 'first'
  | 'named'
  | 'named13'
  | 'templates13'
  | 'labels13'
  | 'workflows'
  | 'union'
  | 'once';

const rules: Record<string, Rule> = {
  imports: 'ignore',
  dsl_definitions: 'ignore',
  tosca_definitions_version: 'ignore',
  description: 'first',
  metadata: 'first',
  node_types: 'named',
  plugins: 'named',
  relationships: 'named',
  policy_types: 'named',
  policy_triggers: 'named',
  groups: 'named',
  data_types: 'named',
  namespaces_mapping: 'named',
  workflows: 'workflows',
  inputs: 'named13',
  outputs: 'named13',
  capabilities: 'named13',
  node_templates: 'templates13',
  labels: 'labels13',
  blueprint_labels: 'labels13',
  resource_tags: 'labels13',
  imported_blueprints: 'union',
};

interface Section {
  key: Entry;
  /** Entries of a mapping by name; null for sections that are no mapping. */
  entries: Map<string, Entry> | null;
  value: Node;
}

export class Merger {
  private readonly sections = new Map<string, Section>();

  constructor(
    private readonly diagnostics: Diagnostics,
    /** Whether the main file's version allows inputs, outputs, node templates and so on in several files. */
    private readonly canSpread: boolean,
  ) {}

  /** Adds the main file; to be called first. */
  addMain(root: MapNode): void {
    for (const section of root.entries) this.sections.set(section.name, toSection(section));
  }

  /** Adds an import; `isBasic`: it contains the built-in types. */
  addImport(root: MapNode, isBasic: boolean): void {
    for (const section of root.entries) {
      const rule = Object.hasOwn(rules, section.name) ? rules[section.name]! : 'once';
      if (rule === 'ignore') continue;
      const incoming = isBasic ? markBasic(section) : section;
      const existing = this.sections.get(section.name);
      if (existing === undefined || isNull(existing.value))
        this.sections.set(section.name, toSection(incoming));
      else if (!isNull(incoming.value)) this.mergeSection(existing, incoming, rule);
    }
  }

  /** Returns the merged document at the place of `root`. */
  result(root: MapNode): MapNode {
    const entries = [...this.sections.values()].map(({ key, entries: named, value }): Entry => {
      if (named === null) return { ...key, value };
      return { ...key, value: new MapNode([...named.values()], value.source, value.start) };
    });
    return new MapNode(entries, root.source, root.start);
  }

  private mergeSection(existing: Section, incoming: Entry, rule: Rule): void {
    const name = incoming.name;
    if (rule === 'first') return;
    if (rule === 'union') return union(existing, incoming);
    const isSpreadOnly13 = rule === 'named13' || rule === 'templates13' || rule === 'labels13';
    if (rule === 'once' || (isSpreadOnly13 && !this.canSpread)) {
      this.diagnostics.report('not_mergeable', `"${name}" stands in several files`, {
        at: incoming.key,
        path: name,
        value: name,
        expected:
          rule === 'once'
            ? 'the section in one file only'
            : 'one file only, or tosca_definitions_version: cloudify_dsl_1_3 or newer',
      });
      return;
    }
    // a section of the wrong form is reported by the shape check of the file that came first
    if (existing.entries === null || incoming.value.kind !== 'map') return;
    for (const entry of incoming.value.entries) this.mergeEntry(existing.entries, entry, name, rule);
  }

  private mergeEntry(entries: Map<string, Entry>, entry: Entry, section: string, rule: Rule): void {
    const present = entries.get(entry.name);
    if (present === undefined) {
      entries.set(entry.name, entry);
      return;
    }
    if (rule === 'labels13') return;
    if (rule === 'workflows' && !entry.basic) {
      entries.set(entry.name, mergeWorkflow(present, entry));
      return;
    }
    if (entry.basic || (entry.name.startsWith('cloudify.') && rule === 'named')) {
      this.warnOverwritten(present, entry, section);
      entries.set(entry.name, entry);
      return;
    }
    const joined = rule === 'templates13' ? joinTemplates(present, entry) : null;
    if (joined !== null) {
      entries.set(entry.name, joined);
      return;
    }
    if (section === 'namespaces_mapping' && isSameText(present.value, entry.value)) return;
    const first = present.key.source.position(present.key.start);
    this.diagnostics.report(
      'duplicate_entry',
      `"${entry.name}" in ${section} is already defined in ${present.key.source.name ?? 'the main file'}, line ${first.line}`,
      {
        at: entry.key,
        path: `${section}.${entry.name}`,
        expected: 'another name, or a namespace on the import',
      },
    );
  }

  private warnOverwritten(present: Entry, entry: Entry, section: string): void {
    if (present.basic && entry.basic) return;
    this.diagnostics.report(
      'built_in_overwritten',
      `"${entry.name}" in ${section} is replaced by the one in ${entry.key.source.name ?? 'an import'}`,
      {
        at: present.key,
        path: `${section}.${entry.name}`,
        expected: 'another name',
      },
    );
  }
}

function toSection(section: Entry): Section {
  const { value } = section;
  return {
    key: section,
    value,
    entries: value.kind === 'map' ? new Map(value.entries.map((e) => [e.name, e])) : null,
  };
}

const basicSections = new WeakMap<Node, Node>();

/** Flags every entry of a section; cached per document, so that cached types files cost nothing. */
function markBasic(section: Entry): Entry {
  const { value } = section;
  if (value.kind !== 'map') return section;
  let marked = basicSections.get(value);
  if (marked === undefined) {
    marked = new MapNode(
      value.entries.map((entry) => ({ ...entry, basic: true })),
      value.source,
      value.start,
    );
    basicSections.set(value, marked);
  }
  return { ...section, value: marked };
}

function isSameText(a: Node, b: Node): boolean {
  return isString(a) && isString(b) && a.value === b.value;
}

function union(existing: Section, incoming: Entry): void {
  const known = new Set(itemsOf(existing.value).map((n) => (n.kind === 'scalar' ? n.value : n)));
  const added = itemsOf(incoming.value).filter((n) => n.kind !== 'scalar' || !known.has(n.value));
  if (existing.value.kind === 'seq')
    existing.value = new SeqNode(
      [...existing.value.items, ...added],
      existing.value.source,
      existing.value.start,
    );
}

/** Merges field by field and keeps the fields of the first file; a workflow in short form stays as it is. */
function mergeWorkflow(present: Entry, entry: Entry): Entry {
  if (present.value.kind !== 'map' || entry.value.kind !== 'map') return present;
  const own = present.value;
  const added = entry.value.entries.filter((e) => !own.has(e.name));
  return { ...present, value: new MapNode([...own.entries, ...added], own.source, own.start) };
}

function isRelationshipsOnly(node: MapNode): boolean {
  return node.entries.length === 1 && node.has('relationships');
}

/**
 * Joins two parts of one template. A part that consists only of relationships extends the other, or is completed by the
 * one with the type. Null when the parts exclude each other.
 */
function joinTemplates(present: Entry, entry: Entry): Entry | null {
  const { value: a } = present;
  const { value: b } = entry;
  if (a.kind !== 'map' || b.kind !== 'map' || !a.has('relationships')) return null;
  const isCompleted = isRelationshipsOnly(a) && b.has('type');
  if (!isCompleted && !isRelationshipsOnly(b)) return null;
  const own = a.entry('relationships')!;
  // relationships of the wrong form are reported by the shape check
  if (own.value.kind !== 'seq') return present;
  const items = [...itemsOf(own.value), ...itemsOf(childOf(b, 'relationships'))];
  const place = own.value;
  const relationships = { ...own, value: new SeqNode(items, place.source, place.start) };
  const fields = new Map<string, Entry>();
  for (const field of [...entriesOf(b), ...entriesOf(a), relationships]) fields.set(field.name, field);
  return { ...present, value: new MapNode([...fields.values()], a.source, a.start) };
}
