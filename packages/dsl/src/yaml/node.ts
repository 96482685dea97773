import type { Json } from '@baton/kernel';
import { Source } from './source';

/**
 * The read document: keeps the order, and every node has its place. Only `toJson` returns plain values. Nodes are
 * immutable after reading and may be shared (aliases, caches), so transformations build new ones.
 */
export type Node = MapNode | SeqNode | ScalarNode;

export type ScalarValue = null | boolean | number | string;
/** The resolved type of the scalar; `float` and `integer` differ even where JavaScript has the same number. */
export type ScalarType = 'null' | 'boolean' | 'integer' | 'float' | 'string' | 'timestamp' | 'binary';

export class ScalarNode {
  readonly kind = 'scalar' as const;
  constructor(
    readonly value: ScalarValue,
    readonly type: ScalarType,
    readonly source: Source,
    readonly start: number,
  ) {}
}

export class SeqNode {
  readonly kind = 'seq' as const;
  constructor(
    readonly items: readonly Node[],
    readonly source: Source,
    readonly start: number,
  ) {}
}

export interface Entry {
  /** The key in its JSON form. */
  readonly name: string;
  readonly key: ScalarNode;
  readonly value: Node;
  /** Set on entries from a file of built-in types. */
  readonly basic?: boolean;
}

const INDEX_FROM = 8;

export class MapNode {
  readonly kind = 'map' as const;
  private index: Map<string, Entry> | null = null;
  constructor(
    readonly entries: readonly Entry[],
    readonly source: Source,
    readonly start: number,
  ) {}

  entry(name: string): Entry | undefined {
    const entries = this.entries;
    if (entries.length < INDEX_FROM) {
      for (const entry of entries) if (entry.name === name) return entry;
      return undefined;
    }
    this.index ??= new Map(entries.map((e) => [e.name, e]));
    return this.index.get(name);
  }

  /** The value under `name`; undefined when absent. */
  get(name: string): Node | undefined {
    return this.entry(name)?.value;
  }

  has(name: string): boolean {
    return this.entry(name) !== undefined;
  }

  names(): string[] {
    return this.entries.map((e) => e.name);
  }
}

const noSource = new Source(null, '');

export function isNull(node: Node | undefined): boolean {
  return node === undefined || (node.kind === 'scalar' && node.value === null);
}

export function isString(node: Node | undefined): node is ScalarNode & { value: string } {
  return node?.kind === 'scalar' && node.type === 'string';
}

/** Returns the text of a string scalar, else undefined. */
export function textOf(node: Node | undefined): string | undefined {
  return isString(node) ? node.value : undefined;
}

/** Returns the entries of a mapping; none for other nodes. */
export function entriesOf(node: Node | undefined): readonly Entry[] {
  return node?.kind === 'map' ? node.entries : [];
}

export function itemsOf(node: Node | undefined): readonly Node[] {
  return node?.kind === 'seq' ? node.items : [];
}

export function childOf(node: Node | undefined, name: string): Node | undefined {
  return node?.kind === 'map' ? node.get(name) : undefined;
}

/** Sets `key` so that `__proto__` becomes an ordinary own property. */
export function setOwn<T>(target: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/** Returns the plain value of a node. Shared nodes (aliases) give equal, separate values. */
export function toJson(node: Node): Json {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'seq') return node.items.map(toJson);
  const result: { [key: string]: Json } = {};
  for (const entry of node.entries) setOwn(result, entry.name, toJson(entry.value));
  return result;
}

function scalarTypeOf(value: ScalarValue): ScalarType {
  if (value === null) return 'null';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'float';
  return typeof value as 'boolean' | 'string';
}

/** Makes a node for a plain value, at the place of `at` (defaults made by the parser itself have no better place). */
export function fromJson(value: Json, at?: Node): Node {
  const source = at?.source ?? noSource;
  const start = at?.start ?? 0;
  if (Array.isArray(value))
    return new SeqNode(
      value.map((v) => fromJson(v, at)),
      source,
      start,
    );
  if (value === null || typeof value !== 'object')
    return new ScalarNode(value, scalarTypeOf(value), source, start);
  const entries = Object.keys(value).map((name) => ({
    name,
    key: new ScalarNode(name, 'string' as const, source, start),
    value: fromJson(value[name]!, at),
  }));
  return new MapNode(entries, source, start);
}

/** Makes a mapping of `entries` at the place of `at`. */
export function mapNode(entries: readonly Entry[], at?: Node): MapNode {
  return new MapNode(entries, at?.source ?? noSource, at?.start ?? 0);
}
