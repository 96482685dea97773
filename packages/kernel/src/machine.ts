/** State machines are tables: transitions, SQL checks, tests and diagrams all derive from one value. */

export interface MachineTable<S extends string, E extends string> {
  name: string;
  initial: S;
  terminal: readonly S[];
  on: { readonly [state in S]: { readonly [event in E]?: S } };
}

export interface Machine<S extends string, E extends string> extends MachineTable<S, E> {
  readonly states: readonly S[];
  /** The state after `event`, or null when the table refuses it. */
  next(state: S, event: E): S | null;
  isTerminal(state: S): boolean;
  /** Mermaid source of the table, for docs/generated. */
  mermaid(): string;
}

/**
 * Makes a machine from its table.
 * @throws Error when a state cannot be reached, cannot reach a terminal state, or a terminal state has an exit.
 */
export function defineMachine<S extends string, E extends string>(table: MachineTable<S, E>): Machine<S, E> {
  const states = Object.keys(table.on) as S[];
  const exits = (s: S): S[] => Object.values(table.on[s] as Record<string, S>);
  const reach = (from: S): Set<S> => {
    const seen = new Set<S>([from]);
    for (const s of seen) for (const t of exits(s)) seen.add(t);
    return seen;
  };
  const reachable = reach(table.initial);
  for (const s of states) {
    const isTerminal = table.terminal.includes(s);
    if (!reachable.has(s)) throw new Error(`${table.name}: state ${s} cannot be reached`);
    if (isTerminal && exits(s).length > 0) throw new Error(`${table.name}: terminal state ${s} has an exit`);
    if (![...reach(s)].some((t) => table.terminal.includes(t)))
      throw new Error(`${table.name}: ${s} never ends`);
  }
  return {
    ...table,
    states,
    next: (state, event) => table.on[state]?.[event] ?? null,
    isTerminal: (state) => table.terminal.includes(state),
    mermaid: () =>
      [
        'stateDiagram-v2',
        `  [*] --> ${table.initial}`,
        ...states.flatMap((s) =>
          Object.entries(table.on[s]).map(([e, t]) => `  ${s} --> ${String(t)}: ${e}`),
        ),
        ...table.terminal.map((s) => `  ${s} --> [*]`),
      ].join('\n'),
  };
}
