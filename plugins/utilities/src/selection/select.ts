import type { WorkflowInstance, WorkflowNode } from '@baton/plugin-sdk';
import * as z from 'zod';

/** Nodes and instances of a deployment, with their state at the time of the read. */
export interface Model {
  readonly nodes: readonly WorkflowNode[];
  readonly instances: readonly WorkflowInstance[];
}

/** An instance with its node. */
export interface Placed {
  node: WorkflowNode;
  instance: WorkflowInstance;
}

/** Parameters that choose instances; an empty list chooses all. */
export const SELECTION = {
  type_names: z.any().default([]).describe('Names of types; types that derive from them count too'),
  node_ids: z.any().default([]).describe('Names of nodes'),
  node_instance_ids: z.any().default([]).describe('Ids of node instances'),
};

export interface Selection {
  types: readonly string[];
  nodes: readonly string[];
  instances: readonly string[];
}

/** A parameter that is a list of texts, or one text. */
export function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'string' && value !== '' ? [value] : [];
}

export const selectionOf = (parameters: {
  type_names?: unknown;
  node_ids?: unknown;
  node_instance_ids?: unknown;
}): Selection => ({
  types: textsOf(parameters.type_names),
  nodes: textsOf(parameters.node_ids),
  instances: textsOf(parameters.node_instance_ids),
});

/** The instances with their nodes, in the order of the nodes. */
export function placed({ nodes, instances }: Model): Placed[] {
  return nodes.flatMap((node) =>
    instances.filter(({ node_id: id }) => id === node.id).map((instance) => ({ node, instance })),
  );
}

export function select(model: Model, { types, nodes, instances }: Selection): Placed[] {
  return placed(model).filter(
    ({ node, instance }) =>
      (nodes.length === 0 || nodes.includes(node.id)) &&
      (types.length === 0 || types.some((type) => node.type_hierarchy.includes(type))) &&
      (instances.length === 0 || instances.includes(instance.id)),
  );
}

/** Whether the node declares the operation. */
export const hasOperation = ({ operations }: WorkflowNode, name: string): boolean =>
  Object.hasOwn(operations, name);
