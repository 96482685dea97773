import type { TaskSpec } from '../task';

type Task = Pick<TaskSpec, 'idx' | 'name' | 'key' | 'deps' | 'subgraph'>;

/**
 * Returns the names of tasks that wait for each other, or null. A task starts after the end of its dependencies and
 * after the start of its subgraph, and a subgraph ends after the end of its members. So two subgraphs may wait for each
 * other although no circle is in the dependencies alone. For tasks outside `added` only their new members are known.
 */
export function circleOf(added: readonly Task[]): string[] | null {
  if (added.every(({ subgraph }) => subgraph === null)) return null;
  const tasks = [...added, ...earlier(added)];
  const at = new Map(tasks.map((task, i) => [task.idx, i]));
  const members = new Map<number, number[]>();
  for (const [i, { subgraph }] of tasks.entries()) {
    if (subgraph === null) continue;
    const around = at.get(subgraph)!;
    const others = members.get(around);
    if (others) others.push(i);
    else members.set(around, [i]);
  }
  const places = (idxs: readonly number[]) => idxs.flatMap((idx) => at.get(idx) ?? []);
  // Even numbers: the start of the task at half of the number; odd numbers: its end.
  const before = (moment: number): number[] => {
    const i = moment >> 1;
    if (moment % 2 === 1) return [2 * i, ...(members.get(i) ?? []).map((member) => 2 * member + 1)];
    const { deps, subgraph } = tasks[i]!;
    const around = subgraph === null ? [] : places([subgraph]);
    return [...places(deps).map((dep) => 2 * dep + 1), ...around.map((place) => 2 * place)];
  };
  const found = closedPath(2 * tasks.length, before);
  if (!found) return null;
  const names = found.map((moment) => label(tasks[moment >> 1]!));
  return names.filter((name, i) => name !== names[i - 1]);
}

/** Subgraphs of earlier submissions that get new members. */
function earlier(added: readonly Task[]): Task[] {
  const own = new Set(added.map(({ idx }) => idx));
  const around = new Set(
    added.flatMap(({ subgraph }) => (subgraph === null || own.has(subgraph) ? [] : subgraph)),
  );
  return [...around].map((idx) => ({ idx, name: `subgraph ${idx}`, deps: [], subgraph: null }));
}

const label = ({ name, key }: Task): string => (key ? `${name} [${key}]` : name);

/** Returns a circular path along `before`; null when there is none. */
function closedPath(count: number, before: (node: number) => number[]): number[] | null {
  const done = new Uint8Array(count);
  const path = new Set<number>();
  for (let first = 0; first < count; first++) {
    if (done[first]) continue;
    const stack = [{ node: first, rest: before(first) }];
    path.add(first);
    while (stack.length > 0) {
      const { node, rest } = stack.at(-1)!;
      const next = rest.pop();
      if (next === undefined) {
        stack.pop();
        path.delete(node);
        done[node] = 1;
      } else if (path.has(next)) {
        const around = [...path];
        return [...around.slice(around.indexOf(next)), next];
      } else if (!done[next]) {
        path.add(next);
        stack.push({ node: next, rest: before(next) });
      }
    }
  }
  return null;
}
