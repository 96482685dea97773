import { readFileSync } from 'node:fs';

interface Node {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
  children?: number[];
}
interface Profile {
  nodes: Node[];
  samples: number[];
  timeDeltas: number[];
}

export interface Hot {
  name: string;
  selfMs: number;
  totalMs: number;
}

/** Returns the functions of a CPU profile, largest own time first; `idlePercent` is the share of idle time. */
export function hotFunctions(
  file: string,
  most: number,
): { idlePercent: number; bySelf: Hot[]; byTotal: Hot[] } {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile;
  const self = new Map<number, number>();
  for (const [i, id] of samples.entries()) self.set(id, (self.get(id) ?? 0) + timeDeltas[i]! / 1000);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const found = new Map<string, Hot>();
  const named = ({ callFrame: { functionName, url, lineNumber } }: Node): string =>
    `${functionName || '(anonymous)'} ${url.split('/').slice(-3).join('/')}:${lineNumber + 1}`;
  /** Adds a subtree; a recursive function counts once. */
  const add = (node: Node, above: ReadonlySet<string>): number => {
    const name = named(node);
    const own = self.get(node.id) ?? 0;
    const within = new Set(above).add(name);
    const below = (node.children ?? []).reduce((sum, id) => sum + add(byId.get(id)!, within), 0);
    const hot = found.get(name) ?? { name, selfMs: 0, totalMs: 0 };
    hot.selfMs += own;
    if (!above.has(name)) hot.totalMs += own + below;
    found.set(name, hot);
    return own + below;
  };
  const all = add(nodes[0]!, new Set());
  const idle = [...found.values()]
    .filter(({ name }) => name.startsWith('(idle)'))
    .reduce((sum, one) => sum + one.selfMs, 0);
  const shown = [...found.values()].filter(({ name }) => !/^\((idle|root|program)\)/.test(name));
  const top = (key: 'selfMs' | 'totalMs'): Hot[] => [...shown].sort((a, b) => b[key] - a[key]).slice(0, most);
  return { idlePercent: (idle / all) * 100, bySelf: top('selfMs'), byTotal: top('totalMs') };
}
