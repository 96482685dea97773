import type { Json, JsonObject } from '@baton/kernel';
import { diagnostic } from '../diagnostics/diagnostic';
import { DslError } from '../diagnostics/dsl-error';
import { childOf, type Entry, entriesOf, setOwn, textOf } from '../yaml/node';
import { MAX_DERIVATION } from './derivation';
import type { ElementContext } from './element-context';
import { primitiveTypes } from './primitive-types';
import { inheritProperties, parsePropertySchemas, schemasJson } from './properties';
import { type DataType, type DataTypeLookup, noProperties } from './property-schema';

const MAX_NESTING = 60;

/**
 * The data types of a document (reference 3.2). A type needs its parent and the types of its properties first, so types
 * are resolved on demand; a type that needs itself is a cycle (E100).
 */
export class DataTypes implements DataTypeLookup {
  private readonly entries: ReadonlyMap<string, Entry>;
  private readonly resolved = new Map<string, DataType>();
  private readonly open: string[] = [];
  /** Types that contain themselves: their values are not checked. */
  private readonly cyclic = new Set<string>();

  constructor(private readonly context: ElementContext) {
    this.entries = new Map(entriesOf(context.root.get('data_types')).map((e) => [e.name, e]));
  }

  /** Resolves every type, so that faults in unused ones are reported too. */
  resolveAll(): void {
    for (const [name, entry] of this.entries) {
      if (primitiveTypes.has(name)) {
        this.context.diagnostics.report('reserved_type_name', `"${name}" is the name of a primitive type`, {
          at: entry.key,
          path: `data_types.${name}`,
          value: name,
          expected: 'another name',
        });
      }
      this.get(name);
    }
  }

  has(name: string): boolean {
    return this.entries.has(name) && !primitiveTypes.has(name);
  }

  names(): Iterable<string> {
    return this.entries.keys();
  }

  get(name: string): DataType | undefined {
    if (this.cyclic.has(name)) return undefined;
    const known = this.resolved.get(name);
    if (known !== undefined) return known;
    const entry = this.entries.get(name);
    if (entry === undefined || primitiveTypes.has(name)) return undefined;
    if (this.open.includes(name)) {
      this.reportCycle(name, entry);
      return undefined;
    }
    if (this.open.length >= Math.min(MAX_NESTING, MAX_DERIVATION)) {
      throw new DslError(
        diagnostic('limit_exceeded', `data types hold each other too deeply at "${name}"`, {
          at: entry.key,
          path: `data_types.${name}`,
          expected: `at most ${MAX_NESTING} levels`,
        }),
      );
    }
    this.open.push(name);
    const type = this.parse(name, entry);
    this.open.pop();
    this.resolved.set(name, type);
    return type;
  }

  private reportCycle(name: string, entry: Entry): void {
    const cycle = [...this.open.slice(this.open.indexOf(name)), name];
    for (const member of cycle) this.cyclic.add(member);
    this.context.diagnostics.report('cycle', `data_types: ${cycle.join(' -> ')} is a circle`, {
      at: entry.key,
      path: `data_types.${name}`,
      cycle,
    });
  }

  private parse(name: string, entry: Entry): DataType {
    const path = `data_types.${name}`;
    const own = parsePropertySchemas(
      this.context,
      this,
      childOf(entry.value, 'properties'),
      `data type "${name}"`,
      `${path}.properties`,
    );
    return {
      name,
      entry,
      properties: inheritProperties(
        this.context,
        this,
        own,
        this.parent(entry, path)?.properties ?? noProperties,
      ),
    };
  }

  private parent(entry: Entry, path: string): DataType | undefined {
    const node = childOf(entry.value, 'derived_from');
    const name = textOf(node);
    if (name === undefined) return undefined;
    if (!this.has(name)) {
      this.context.diagnostics.report(
        'unknown_parent',
        `"${entry.name}" is derived from the unknown type "${name}"`,
        { at: node, path: `${path}.derived_from`, name, valid: this.names() },
      );
    }
    return this.get(name);
  }

  /** The plan's `data_types`. */
  toPlan(): JsonObject {
    const result: JsonObject = {};
    for (const [name, entry] of this.entries) {
      const type = this.resolved.get(name);
      const text = (key: string): Json => textOf(childOf(entry.value, key)) ?? null;
      setOwn(result, name, {
        properties: schemasJson(type?.properties ?? noProperties),
        description: text('description'),
        derived_from: text('derived_from'),
        version: text('version'),
      } as Json);
    }
    return result;
  }
}
