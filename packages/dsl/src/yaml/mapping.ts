import { YamlError } from './limits';
import type { Entry, Node, ScalarNode } from './node';
import type { Source } from './source';

/**
 * Returns the entries of a mapping. Merge keys are applied (own keys win, then earlier merged mappings); of equal keys
 * the last one wins.
 * @throws YamlError for a key that is no scalar, and for a merge of anything but mappings.
 */
export function entriesOf(pairs: readonly [Node, Node][], source: Source): Entry[] {
  const entries: Entry[] = [];
  let merged: Entry[] | null = null;
  for (const [key, value] of pairs) {
    if (key.kind !== 'scalar')
      throw new YamlError('composer', 'a list or mapping cannot be a key', key.start, 'a text');
    if (key.value === '<<' && source.text.charCodeAt(key.start) === 60) {
      merged = [...(merged ?? []), ...mergeEntries(value)];
    } else entries.push({ name: keyName(key), key, value });
  }
  const all = merged === null ? entries : [...merged, ...entries];
  return hasDuplicates(all) ? lastWins(all) : all;
}

function keyName(key: ScalarNode): string {
  if (key.value === null) return 'null';
  if (key.type === 'float' && Number.isInteger(key.value)) return `${String(key.value)}.0`;
  return String(key.value);
}

function mergeEntries(value: Node): Entry[] {
  if (value.kind === 'map') return [...value.entries];
  if (value.kind === 'seq') {
    // the first mapping of the list wins, so it comes last
    return [...value.items].reverse().flatMap((item) => {
      if (item.kind !== 'map')
        throw new YamlError('composer', '"<<" merges mappings only', item.start, 'a mapping');
      return [...item.entries];
    });
  }
  throw new YamlError(
    'composer',
    '"<<" merges mappings only',
    value.start,
    'a mapping or a list of mappings',
  );
}

function hasDuplicates(entries: readonly Entry[]): boolean {
  if (entries.length < 2) return false;
  if (entries.length < 8) {
    for (let i = 1; i < entries.length; i++)
      for (let j = 0; j < i; j++) if (entries[i]!.name === entries[j]!.name) return true;
    return false;
  }
  return new Set(entries.map((e) => e.name)).size < entries.length;
}

/** Keeps the position of the first of equal keys and the value of the last. */
function lastWins(entries: readonly Entry[]): Entry[] {
  const byName = new Map<string, Entry>();
  for (const entry of entries) byName.set(entry.name, entry);
  return [...byName.values()];
}
