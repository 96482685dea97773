import { type Dict, fieldAt, isSame, type Json } from '../json';
import type { Model } from '../selection/select';

export interface Search {
  /** Names of nodes; empty: all. */
  nodes: readonly string[];
  /** Path in the runtime properties. */
  path: readonly Json[];
  values: readonly Json[];
  /** Runtime property with the name of the scale-out. Empty: only the found instances. */
  transactionField: string;
}

/**
 * Finds instances by a runtime property, and all that were made in the same scale-outs. Returns their ids by node.
 */
export function findInstances(
  { instances }: Model,
  { nodes, path, values, transactionField }: Search,
): Record<string, string[]> {
  const found = new Set<string>();
  const transactions: Json[] = [];
  for (const { id, node_id: node, runtime_properties: properties } of instances) {
    if (nodes.length > 0 && !nodes.includes(node)) continue;
    if (!values.some((value) => isSame(value, fieldAt(properties, path)))) continue;
    found.add(id);
    const transaction = transactionOf(properties as Dict, transactionField);
    if (transaction) transactions.push(transaction);
  }
  for (const { id, runtime_properties: properties } of instances) {
    const transaction = transactionOf(properties as Dict, transactionField);
    if (transaction && transactions.some((one) => isSame(one, transaction))) found.add(id);
  }
  const byNode: Record<string, string[]> = {};
  for (const { id, node_id: node } of instances) if (found.has(id)) (byNode[node] ??= []).push(id);
  return byNode;
}

const transactionOf = (properties: Dict, field: string): Json =>
  field === '' ? null : fieldAt(properties, [field]);
