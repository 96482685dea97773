import type { RelationshipType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { type Dict, dictOf } from '../json';
import { paramsForNode } from './merge';

/** Gives the source its part of the configuration of the target: runtime property params. */
export const loadFromConfig: RelationshipType = {
  derivedFrom: 'cloudify.relationships.depends_on',
  aliases: ['load_from_config'],
  inputs: {
    target: {
      preconfigure: z.object({
        source_config: z
          .any()
          .default({ get_attribute: ['TARGET', 'params'] })
          .describe('The configuration'),
      }),
    },
  },
  target: {
    async preconfigure({ ctx, inputs, log }) {
      const [source, target] = [await ctx.source(), await ctx.target()];
      const given = dictOf(inputs.source_config);
      const hasConfig = Object.keys(given).length > 0 && !Object.hasOwn(given, 'get_attribute');
      const config = hasConfig ? given : dictOf(target.instance.runtimeProperties.params);
      const { instance, node } = source;
      const params = paramsForNode(
        config,
        node.properties as Dict,
        dictOf(instance.runtimeProperties.params),
      );
      instance.runtimeProperties.params = params;
      const { diff_params: changed } = params;
      log.info(`${instance.id} has new values of ${(changed as string[]).join(', ') || 'no parameter'}`);
    },
  },
  mappings: {
    target: {
      preconfigure: 'configuration.cloudify_configuration.tasks.load_configuration_to_runtime_properties',
    },
  },
  resumable: ['target.preconfigure'],
};
