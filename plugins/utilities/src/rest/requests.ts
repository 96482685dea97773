import { type NodeScope, type NoValues, nodeType } from '@baton/plugin-sdk';
import type * as z from 'zod';
import { EVERY_OPERATION, forEveryOperation } from '../every-operation';
import { asDict, type Dict, dictOf, type Json, setKey } from '../json';
import { once } from '../once';
import { runTemplate, type TemplateResult } from './run-template';
import { CONNECTION, REQUESTS_INPUTS } from './schema';
import type { RestScope } from './scope';

export type RequestsInputs = z.output<typeof REQUESTS_INPUTS>;
type RequestsScope = NodeScope<typeof CONNECTION, NoValues, RequestsInputs>;

/** Where the calls of a template get their variables from, and where the results go. */
export interface Sides {
  /** Gives the runtime properties for the result: steps replace their object. */
  target: () => Dict;
  /** Variables before those of the node, in rising order. */
  variables: Dict;
  properties: Dict;
}

/** Runs the template of an operation, and keeps its result as the inputs say. */
export async function execute(scope: RestScope, inputs: RequestsInputs, sides: Sides): Promise<void> {
  if (!inputs.template_file) {
    scope.log.info('Processing finished. No template file provided.');
    return;
  }
  const { params, ...connection } = sides.properties;
  const result = await runTemplate(scope, {
    file: inputs.template_file,
    variables: { ...dictOf(params), ...sides.variables, ...dictOf(inputs.params) },
    // Not a declared input, as in the original: hosts, port and so on before those of the node.
    connection: { ...connection, ...dictOf((inputs as { auth?: unknown }).auth) },
    prerender: inputs.prerender,
    retryCount: inputs.retry_count,
    retrySleep: inputs.retry_sleep,
    stepKey: '',
  });
  keep(sides.target(), result, inputs.save_path, inputs.remove_calls);
}

/**
 * Keeps a result. Without a path, properties that answers gave are runtime properties themselves as well: the original's own examples
 * read them there.
 */
export function keep(
  target: Dict,
  result: TemplateResult,
  path: string | false | undefined,
  removesCalls: boolean,
): void {
  const { result_properties: properties } = result;
  const kept = (removesCalls ? properties : { ...result }) as Dict;
  if (path) setKey(target, path, kept);
  else
    for (const [name, value] of Object.entries({ ...properties, ...kept }))
      setKey(target, name, value as Json);
}

async function run(scope: RequestsScope): Promise<void> {
  await once(scope, async () => {
    const runtime = asDict(scope.runtime);
    await execute(scope, scope.inputs, {
      target: () => runtime,
      variables: { ...runtime },
      properties: scope.properties as Dict,
    });
  });
}

const MAPPING = 'rest.cloudify_rest.tasks.execute';

/** Calls of an HTTP API, as templates of the blueprint write them. */
export const requests = nodeType({
  description: 'Calls of an HTTP API, as templates of the blueprint write them',
  aliases: ['cloudify.rest.Requests'],
  properties: CONNECTION,
  inputs: forEveryOperation(REQUESTS_INPUTS),
  mappings: forEveryOperation(MAPPING),
  create: run,
  configure: run,
  start: run,
  stop: run,
  delete: run,
  resumable: EVERY_OPERATION,
});
