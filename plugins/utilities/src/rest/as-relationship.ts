import { directOperation } from '@baton/plugin-sdk';
import type { Dict } from '../json';
import { execute } from './requests';
import { CONNECTION, REQUESTS_INPUTS } from './schema';

/** Calls in an operation of a relationship: variables come from both ends, and the result goes to the source. */
export const executeAsRelationship = directOperation({
  inputs: REQUESTS_INPUTS,
  isResumable: true,
  async run(scope) {
    const { ctx, inputs } = scope;
    const [source, target] = [await ctx.source(), await ctx.target()];
    // The source may be of any type: properties that it does not have get their defaults.
    const parsed = CONNECTION.partial().safeParse(source.node.properties);
    await execute(scope, inputs, {
      target: () => source.instance.runtimeProperties as Dict,
      variables: {
        ...(target.instance.runtimeProperties as Dict),
        ...(source.instance.runtimeProperties as Dict),
      },
      properties: (parsed.success ? parsed.data : source.node.properties) as Dict,
    });
  },
});
