import { ArchiveRefused } from '../archive-refused';
import { DUMP_FILE } from './dump-reader';
import type { Spot } from './spool';

/**
 * What the rows of a dump refer to, by the keys of the database. All of it is in memory: about 100 bytes for each row of the tables that
 * others refer to and of those that belong to one object, and at most `maxEntries` of them.
 */
export class References {
  /** Ids of executions that the dump deletes at its end. */
  readonly deletedExecutions = new Set<string>();
  readonly #names = new Map<string, Map<number, string>>();
  readonly #owners = new Map<string, Map<number, number>>();
  readonly #children = new Map<string, Map<number, Spot[]>>();
  readonly #joins = new Map<string, Map<number, number[][]>>();
  #entries = 0;

  constructor(private readonly maxEntries: number) {}

  name(table: string, key: number, name: string): void {
    this.#count(table);
    mapOf(this.#names, table).set(key, name);
  }

  own(table: string, key: number, owner: number): void {
    this.#count(table);
    mapOf(this.#owners, table).set(key, owner);
  }

  child(table: string, parent: number, spot: Spot): void {
    this.#count(table);
    listOf(mapOf(this.#children, table), parent).push(spot);
  }

  join(table: string, first: number, rest: number[]): void {
    this.#count(table);
    listOf(mapOf(this.#joins, table), first).push(rest);
  }

  nameOf(table: string, key: number | null): string | null {
    return key === null ? null : (this.#names.get(table)?.get(key) ?? null);
  }

  ownerOf(table: string, key: number | null): number | null {
    return key === null ? null : (this.#owners.get(table)?.get(key) ?? null);
  }

  childrenOf(table: string, parent: number): readonly Spot[] {
    return this.#children.get(table)?.get(parent) ?? [];
  }

  joined(table: string, first: number): readonly (readonly number[])[] {
    return this.#joins.get(table)?.get(first) ?? [];
  }

  /** Names by key. */
  names(table: string): ReadonlyMap<number, string> {
    return this.#names.get(table) ?? new Map();
  }

  /** All joined numbers of a table at one position: 0 is the first column after the key. */
  joinedValues(table: string, position: number): number[] {
    return [...(this.#joins.get(table)?.values() ?? [])].flatMap((rows) => rows.map((row) => row[position]!));
  }

  #count(table: string): void {
    if (++this.#entries > this.maxEntries)
      throw new ArchiveRefused(
        'limit',
        `the tables hold more than ${this.maxEntries} rows that others refer to`,
        {
          file: DUMP_FILE,
          table,
        },
      );
  }
}

function mapOf<V>(maps: Map<string, Map<number, V>>, table: string): Map<number, V> {
  let map = maps.get(table);
  if (!map) maps.set(table, (map = new Map()));
  return map;
}

function listOf<V>(lists: Map<number, V[]>, key: number): V[] {
  let list = lists.get(key);
  if (!list) lists.set(key, (list = []));
  return list;
}
