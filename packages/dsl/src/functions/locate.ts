import { childOf, entriesOf, itemsOf, type MapNode, type Node } from '../yaml/node';
import type { Scope } from './places';

/**
 * Returns the node of the document that a path of the plan came from, as precisely as possible: parts from a type are
 * shown at the template that uses it.
 */
export function locate(root: MapNode, scope: Scope, path: string): Node | undefined {
  if (scope.kind === 'section') return descend(root, path);
  const template = childOf(root.get('node_templates'), scope.node);
  const rest = path.slice(`nodes.${scope.node}.`.length);
  if (scope.kind === 'node') {
    if (rest.startsWith('operations.'))
      return findOperation(template, 'interfaces', rest.slice('operations.'.length)) ?? template;
    return descend(template, rest);
  }
  const relationship = itemsOf(childOf(template, 'relationships')).find((r) => {
    const target = childOf(r, 'target');
    return target?.kind === 'scalar' && target.value === scope.target;
  });
  for (const side of ['source_interfaces', 'target_interfaces']) {
    for (const { name } of entriesOf(childOf(relationship, side))) {
      const at = rest.indexOf(`.${name}.`);
      const found = at < 0 ? undefined : findOperation(relationship, side, rest.slice(at + 1));
      if (found) return found;
    }
  }
  return relationship ?? template;
}

/** Finds `iface.op.inputs.x` or `op.inputs.x` below the interfaces of an element. */
function findOperation(node: Node | undefined, section: string, path: string): Node | undefined {
  for (const { name, value: operations } of entriesOf(childOf(node, section))) {
    const rest = path.startsWith(`${name}.`) ? path.slice(name.length + 1) : path;
    for (const { name: op, value } of entriesOf(operations)) {
      if (rest.startsWith(`${op}.`)) return descend(value, rest.slice(op.length + 1));
    }
  }
  return undefined;
}

/** Returns the deepest node on `path`; names may contain dots, so the longest matching one is used. */
function descend(from: Node | undefined, path: string): Node | undefined {
  let node = from;
  let rest = path;
  while (node && rest !== '') {
    const index = /^\[(\d+)\]\.?/.exec(rest);
    if (index && node.kind === 'seq') {
      const next: Node | undefined = node.items[Number(index[1])];
      if (!next) return node;
      node = next;
      rest = rest.slice(index[0].length);
      continue;
    }
    let best: { name: string; value: Node } | null = null;
    for (const entry of entriesOf(node)) {
      const after = rest[entry.name.length];
      if (
        rest.startsWith(entry.name) &&
        (after === undefined || after === '.' || after === '[') &&
        entry.name.length > (best?.name.length ?? -1)
      )
        best = entry;
    }
    if (!best) return node;
    node = best.value;
    rest = rest.slice(best.name.length).replace(/^\./, '');
  }
  return node;
}
