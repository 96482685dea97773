import { setImmediate as othersFirst } from 'node:timers/promises';
import type { NodeDefinition } from '../store/nodes.sql';

/** Nodes processed before the event loop gets its turn: some milliseconds of work. */
const NODES_A_TURN = 50;

/**
 * Calls `write` for each definition; equal definitions are written once. Nodes of one type share their operations by reference (the
 * plan is read that way). Otherwise ten thousand nodes of nine kilobytes each would be written and hashed for seconds.
 */
export async function documentsOf<Document>(
  definitions: readonly NodeDefinition[],
  write: (definition: NodeDefinition) => Document,
): Promise<Document[]> {
  const ids = new WeakMap<object, number>();
  let last = 0;
  const nameOf = (part: object | null | undefined): string => {
    if (part === null || part === undefined) return String(part);
    // Empty lists are created for each node, and short lists of names are not shared.
    if (Array.isArray(part) && part.every((one) => typeof one === 'string')) return JSON.stringify(part);
    let id = ids.get(part);
    if (id === undefined) ids.set(part, (id = ++last));
    return String(id);
  };
  const known = new Map<string, Document>();
  const documents: Document[] = [];
  for (const [n, definition] of definitions.entries()) {
    if (n % NODES_A_TURN === NODES_A_TURN - 1) await othersFirst();
    const key = Object.entries(definition)
      .map(([name, part]) => `${name} ${nameOf(part as object | null)}`)
      .join();
    let document = known.get(key);
    if (document === undefined) known.set(key, (document = write(definition)));
    documents.push(document);
  }
  return documents;
}
