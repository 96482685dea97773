import type { Decision } from '../decision';
import { activeEnd, freshFlags, graphFromRows, isSettledStatus } from '../graph';
import type { TaskRow } from '../task';

/**
 * Checks the contract of one step against the rows stored before it: dependencies have ended, no attempt is dispatched
 * twice.
 * @throws Error that names the broken rule.
 */
export function inspector(): (stored: readonly TaskRow[], decision: Decision) => void {
  const seen = new Set<string>();
  return (stored, decision) => {
    const rows: TaskRow[] = [...stored];
    for (const change of decision.changes) rows[change.idx] = { ...rows[change.idx]!, ...change };
    rows.push(...decision.added);
    const graph = graphFromRows({ name: 'g', waitAfterFailMs: 0, dryRun: false }, rows, freshFlags());
    for (const idx of decision.dispatch) {
      const row = rows[idx]!;
      const key = `${idx}/${row.attempt}`;
      if (seen.has(key)) throw new Error(`task/attempt ${key} was dispatched twice`);
      seen.add(key);
      if (row.state !== 'sent') throw new Error(`${idx} was dispatched in state ${row.state}`);
      for (const dep of row.deps) {
        const on = rows[activeEnd(graph.nodes, dep)]!;
        if (!isSettledStatus(on, on)) throw new Error(`${idx} was dispatched before ${on.idx} ended`);
      }
      for (let up = row.subgraph; up !== null; up = rows[up]!.subgraph) {
        if (rows[up]!.state !== 'started')
          throw new Error(`${idx} was dispatched in a subgraph ${rows[up]!.state}`);
      }
    }
    if (decision.counters.finished > decision.counters.total)
      throw new Error('more tasks finished than there are');
  };
}
