import { type NodeScope, nodeType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { dictOf } from '../json';
import { mergeDeep, parametersOf } from './merge';

const PROPERTIES = z.object({
  parameters_json: z.any().default('').describe('Parameters: a dictionary, or a text of JSON'),
});

const INPUTS = z.object({
  parameters: z
    .any()
    .default({ get_property: ['SELF', 'parameters_json'] })
    .describe('Goes before the property'),
  merge_dicts: z
    .boolean()
    .default(false)
    .describe('Merge dictionaries into present ones. False: they replace the present ones'),
});

const RUNTIME = z.object({ params: z.record(z.string(), z.unknown()) });

type LoaderScope = NodeScope<typeof PROPERTIES, typeof RUNTIME, z.output<typeof INPUTS>>;

/** Adds the parameters to those that earlier runs have loaded. */
async function load({ inputs, properties, runtime }: LoaderScope): Promise<void> {
  const given = isFunction(inputs.parameters) ? properties.parameters_json : inputs.parameters;
  const loaded = parametersOf(given || properties.parameters_json);
  const present = dictOf(runtime.params);
  // The workflow of the original gives the input by a name without s.
  const isMerging = inputs.merge_dicts || (inputs as Record<string, unknown>).merge_dict === true;
  runtime.params = isMerging ? mergeDeep(present, loaded) : { ...present, ...loaded };
}

/** The default of the input, as it stands where no manager has evaluated it. */
const isFunction = (value: unknown): boolean => Object.hasOwn(dictOf(value), 'get_property');

/** Holds parameters for the nodes that load them by the relationship load_from_config. */
export const configurationLoader = nodeType({
  description: 'Parameters for nodes that load them by the relationship load_from_config',
  derivedFrom: 'cloudify.nodes.ApplicationServer',
  aliases: ['configuration_loader'],
  properties: PROPERTIES,
  runtime: RUNTIME,
  inputs: { configure: INPUTS },
  configure: load,
  mappings: { configure: 'configuration.cloudify_configuration.tasks.load_configuration' },
  resumable: ['configure'],
});
