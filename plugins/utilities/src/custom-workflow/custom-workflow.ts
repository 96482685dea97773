import { FatalError, workflow } from '@baton/plugin-sdk';
import * as z from 'zod';
import type { Dict } from '../json';
import { placed, textsOf } from '../selection/select';

/** A list, or a text of JSON with one. @throws FatalError for everything else */
function listOf(value: unknown, name: string): string[] {
  const read = typeof value === 'string' ? fromJson(value, name) : value;
  if (!Array.isArray(read)) throw new FatalError(`${name}: expected a list, or a text of JSON with one`);
  return textsOf(read);
}

function fromJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new FatalError(`${name}: the text is no JSON`, { cause });
  }
}

/** Runs operations on nodes, one after the other, in the order of the lists. Other parameters are inputs of the operations. */
export const customWorkflow = workflow({
  mapping: 'cloudify_custom_workflow.cloudify_custom_workflow.tasks.customwf',
  isResumable: true,
  parameters: z.object({
    nodes_to_runon: z.any().describe('Names of nodes'),
    operations_to_execute: z.any().describe('Operations with their interfaces'),
    allow_kwargs_override: z
      .boolean()
      .default(false)
      .describe('Whether parameters may replace declared inputs'),
  }),
  async run(
    ctx,
    { nodes_to_runon: nodes, operations_to_execute: operations, allow_kwargs_override, ...kwargs },
  ) {
    const chosen = listOf(nodes, 'nodes_to_runon');
    const names = listOf(operations, 'operations_to_execute');
    const all = placed(await ctx.model());
    const graph = ctx.graph();
    const links = chosen.flatMap((name) =>
      all
        .filter(({ node }) => node.id === name)
        .flatMap(({ node, instance: { id } }) =>
          names.flatMap((operation) => [
            graph.nodeEvent(id, `Starting to ${operation} on instance ${id} of node ${node.id}`),
            graph.operation(id, operation, { kwargs: kwargs as Dict, mayOverride: allow_kwargs_override }),
            graph.nodeEvent(id, `Done ${operation}`),
          ]),
        ),
    );
    graph.sequence(...links);
    await graph.execute();
  },
});
