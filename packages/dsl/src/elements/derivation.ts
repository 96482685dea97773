import type { Diagnostics } from '../diagnostics/diagnostic';
import { diagnostic } from '../diagnostics/diagnostic';
import { DslError } from '../diagnostics/dsl-error';
import { childOf, type Entry, textOf } from '../yaml/node';
import { type ElementContext, spend } from './element-context';

/** Deeper chains of types are refused: their memory grows with the square of their depth. */
export const MAX_DERIVATION = 300;

interface Derived<T> {
  resolved: Map<string, T>;
}

/**
 * Resolves types along derived_from, parents first, without recursion. Cycles (E100) and unknown parents (E103) are
 * reported. A type below one of them is parsed as if it had no parent, and is partial: its missing parts may be
 * inherited.
 */
export function resolveDerivation<T extends { hierarchy: readonly string[]; isPartial: boolean }>(
  context: ElementContext,
  section: string,
  entries: readonly Entry[],
  parse: (entry: Entry, parent: T | null, isPartial: boolean) => T,
): Derived<T> {
  const byName = new Map(entries.map((e) => [e.name, e]));
  const resolved = new Map<string, T>();
  const inCycle = new Set<string>();
  for (const entry of entries) {
    const chain: Entry[] = [];
    const onChain = new Set<string>();
    let current: Entry | undefined = entry;
    while (current && !resolved.has(current.name)) {
      if (onChain.has(current.name)) {
        reportCycle(context.diagnostics, section, chain, current, inCycle);
        break;
      }
      onChain.add(current.name);
      chain.push(current);
      current = parentEntry(context, section, current, byName);
    }
    let isBroken = current !== undefined && !resolved.has(current.name);
    for (const type of chain.reverse()) {
      const parentName = parentOf(type);
      const parent = !isBroken && parentName !== undefined ? (resolved.get(parentName) ?? null) : null;
      isBroken = false;
      if (parent) checkDepth(parent.hierarchy.length, type, section);
      spend(context.work, (parent?.hierarchy.length ?? 0) + 1);
      const isPartial = parent === null ? parentName !== undefined : parent.isPartial;
      resolved.set(type.name, parse(type, parent, isPartial));
    }
  }
  return { resolved };
}

function checkDepth(depth: number, entry: Entry, section: string): void {
  if (depth < MAX_DERIVATION) return;
  throw new DslError(
    diagnostic('limit_exceeded', `"${entry.name}" is derived over too many types`, {
      at: entry.key,
      path: `${section}.${entry.name}`,
      expected: `at most ${MAX_DERIVATION} types`,
    }),
  );
}

function parentOf(entry: Entry): string | undefined {
  return textOf(childOf(entry.value, 'derived_from'));
}

function parentEntry(
  context: ElementContext,
  section: string,
  entry: Entry,
  byName: Map<string, Entry>,
): Entry | undefined {
  const name = parentOf(entry);
  if (name === undefined) return undefined;
  const parent = byName.get(name);
  if (parent === undefined) {
    context.diagnostics.report(
      'unknown_parent',
      `"${entry.name}" is derived from the unknown type "${name}"`,
      {
        at: childOf(entry.value, 'derived_from'),
        path: `${section}.${entry.name}.derived_from`,
        name,
        valid: byName.keys(),
      },
    );
  }
  return parent;
}

function reportCycle(
  diagnostics: Diagnostics,
  section: string,
  chain: Entry[],
  first: Entry,
  inCycle: Set<string>,
): void {
  const names = chain.map((e) => e.name);
  const cycle = [...names.slice(names.indexOf(first.name)), first.name];
  if (cycle.some((name) => inCycle.has(name))) return;
  for (const name of cycle) inCycle.add(name);
  diagnostics.report('cycle', `${section}: ${cycle.slice(0, 20).join(' -> ')} is a circle`, {
    at: first.key,
    path: `${section}.${first.name}`,
    cycle: cycle.slice(0, 50),
  });
}
