/** The manager's preview of an update, grouped by resource for display. */
import type { Schemas } from '@baton/client';
import { isSame, type Values } from '../forms/drafts';

export type Change = Pick<
  Schemas['DeploymentUpdateChange'],
  'action' | 'entity_type' | 'node_id' | 'path' | 'before' | 'after' | 'effect'
>;

/** The effect on a resource; `none`: no operation runs on it. */
export const VERDICTS = ['refused', 'remove', 'replace', 'change', 'add', 'none'] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface DiffLine {
  /** `properties.port`, `operations.create.inputs.word`. */
  path: string;
  /** Undefined: there was no value. */
  before: unknown;
  /** Undefined: the value is removed. */
  after: unknown;
  effect: Change['effect'];
}

export interface ResourceDiff {
  /** Null: the deployment itself. */
  node: string | null;
  verdict: Verdict;
  lines: DiffLine[];
}

export interface Diff {
  /** Nodes with an effect, or with a refused change. */
  resources: ResourceDiff[];
  /** Changes without an effect on resources: outputs, workflows, descriptions, and the like. */
  aside: ResourceDiff[];
  counts: Readonly<Record<Verdict, number>>;
}

/** Groups the changes by resource, losses before additions. */
export function diffOf(changes: readonly Change[]): Diff {
  const byNode = new Map<string | null, Change[]>();
  for (const change of changes) byNode.set(change.node_id, [...(byNode.get(change.node_id) ?? []), change]);
  const all = [...byNode].map(([node, of]): ResourceDiff => {
    const verdict = verdictOf(of);
    return { node, verdict, lines: withoutAliases(of).flatMap(linesOf) };
  });
  all.sort((a, b) => VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict));
  const counts = Object.fromEntries(
    VERDICTS.map((verdict) => [verdict, all.filter((one) => one.verdict === verdict).length]),
  ) as Record<Verdict, number>;
  return {
    resources: all.filter(({ verdict }) => verdict !== 'none'),
    aside: all.filter(({ verdict }) => verdict === 'none'),
    counts,
  };
}

function verdictOf(changes: readonly Change[]): Verdict {
  const has = (...effects: Change['effect'][]) => changes.some(({ effect }) => effects.includes(effect));
  if (has('refused')) return 'refused';
  if (has('install')) return 'add';
  if (has('uninstall')) return 'remove';
  if (has('reinstall')) return 'replace';
  return has('update', 'check', 'establish', 'unlink') ? 'change' : 'none';
}

/** A plan contains each operation by its full name and, if unambiguous, also by its short name. Returns each change only once. */
function withoutAliases(changes: readonly Change[]): readonly Change[] {
  return changes.filter((change) => {
    const name = change.path.at(-1);
    if (change.entity_type !== 'operation' || name === undefined) return true;
    const place = change.path.slice(0, -1).join('\0');
    return !changes.some(
      (other) =>
        other !== change &&
        other.entity_type === 'operation' &&
        other.path.slice(0, -1).join('\0') === place &&
        other.path.at(-1)!.endsWith(`.${name}`) &&
        isSame([other.before, other.after], [change.before, change.after]),
    );
  });
}

function linesOf({ action, entity_type, path, before, after, effect }: Change): DiffLine[] {
  const at = path.join('.');
  const told = (value: unknown) => (value === null ? undefined : value);
  const [was, is] = [told(before), told(after)];
  if (entity_type === 'relationship')
    return [{ path: at, before: linkText(was), after: linkText(is), effect }];
  // An added or removed node has one line for its type and one for each property.
  if (entity_type === 'node' && action !== 'modify')
    return leavesOf(at, was ?? NO_NODE, is ?? NO_NODE).map((leaf) => ({ ...leaf, effect }));
  if (action !== 'modify') return [{ path: at, before: was, after: is, effect }];
  return leavesOf(at, was, is).map((leaf) => ({ ...leaf, effect }));
}

const NO_NODE = { type: undefined, properties: {} };

/** Describes a relationship as text: `connected_to host`. */
function linkText(link: unknown): unknown {
  if (!isObject(link) || typeof link.type !== 'string') return link;
  return `${link.type.split('.').at(-1)} ${String(link.target_id)}`;
}

type Leaf = Pick<DiffLine, 'path' | 'before' | 'after'>;

/** Returns the smallest differing parts: entries of two objects; otherwise the whole values. */
export function leavesOf(path: string, before: unknown, after: unknown): Leaf[] {
  if (isSame(before ?? null, after ?? null)) return [];
  if (!isObject(before) || !isObject(after)) return [{ path, before, after }];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) =>
    leavesOf(
      path === '' ? name : `${path}.${name}`,
      Object.hasOwn(before, name) ? before[name] : undefined,
      Object.hasOwn(after, name) ? after[name] : undefined,
    ),
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the inputs whose values an update changes, to repeat the update without its form. */
export const changedInputs = (before: Values, after: Values): Values =>
  Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) => !Object.hasOwn(before, name) || !isSame(before[name], value),
    ),
  );
