/** What a plugin.yaml promises to blueprints, compared with that of a package that was published in the same version. */
import { parse } from 'yaml';

const SECTIONS = ['node_types', 'data_types', 'relationships', 'workflows'];
/** Texts for people promise nothing. */
const TEXTS = new Set(['description']);
const MAX_SHOWN = 60;

type Tree = Record<string, unknown>;

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns a line for each difference: the dotted path and both values. None: the schemas are the same. */
export function schemaChanges(published: string, built: string): string[] {
  const [before, now] = [parse(published), parse(built)].map((yaml) => (isTree(yaml) ? yaml : {})) as [
    Tree,
    Tree,
  ];
  return SECTIONS.flatMap((section) => changesOf(before[section], now[section], section));
}

function changesOf(before: unknown, now: unknown, path: string): string[] {
  if (!isTree(before) || !isTree(now)) {
    if (JSON.stringify(before) === JSON.stringify(now)) return [];
    if (before === undefined) return [`${path} is new`];
    if (now === undefined) return [`${path} is gone`];
    return [`${path} was ${shown(before)}, is ${shown(now)}`];
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return names.flatMap((name) =>
    // A property may have the name of a text; then its description is an object.
    TEXTS.has(name) && !isTree(before[name]) && !isTree(now[name])
      ? []
      : changesOf(before[name], now[name], `${path}.${name}`),
  );
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, MAX_SHOWN);
