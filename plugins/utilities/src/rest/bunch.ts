import { FatalError, type NodeScope, type NoValues, nodeType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { EVERY_OPERATION, forEveryOperation } from '../every-operation';
import { asDict, type Dict, dictOf, fieldAt, type Json } from '../json';
import { once } from '../once';
import { keep } from './requests';
import { runTemplate } from './run-template';
import { BUNCH_INPUTS, CONNECTION } from './schema';

type BunchScope = NodeScope<typeof CONNECTION, NoValues, z.output<typeof BUNCH_INPUTS>>;

const TEMPLATE = z.looseObject({
  template_file: z.string().min(1),
  save_to: z.string().nullish(),
  params: z.record(z.string(), z.json()).nullish(),
  params_attributes: z.record(z.string(), z.array(z.json())).nullish(),
  prerender: z.boolean().nullish(),
  remove_calls: z.boolean().nullish(),
});

async function run(scope: BunchScope): Promise<void> {
  await once(scope, async () => {
    const { inputs, log } = scope;
    const runtime = asDict(scope.runtime);
    const templates = listOf(inputs.templates);
    if (templates.length === 0) log.debug('No calls.');
    const { params: ofNode, ...connection } = scope.properties as Dict;
    const extra = inputs as Record<string, unknown>;
    for (const [i, one] of templates.entries()) {
      log.info(`Processing: ${one.template_file}`);
      const attributes = Object.entries(one.params_attributes ?? {}).map(([name, path]): [string, Json] => [
        name,
        fieldAt(runtime, path),
      ]);
      const result = await runTemplate(scope, {
        file: one.template_file,
        variables: { ...dictOf(ofNode), ...one.params, ...Object.fromEntries(attributes) },
        connection: { ...connection, ...dictOf(inputs.auth) },
        prerender: one.prerender ?? false,
        retryCount: typeof extra.retry_count === 'number' ? extra.retry_count : 1,
        retrySleep: typeof extra.retry_sleep === 'number' ? extra.retry_sleep : 15,
        stepKey: `template ${i + 1}, `,
      });
      keep(runtime, result, one.save_to ?? false, one.remove_calls ?? false);
    }
  });
}

/** @throws FatalError that names each wrong value */
function listOf(templates: unknown): z.output<typeof TEMPLATE>[] {
  if (!Array.isArray(templates)) {
    if (Object.keys(dictOf(templates)).length === 0) return [];
    throw new FatalError('templates: expected a list');
  }
  const parsed = z.array(TEMPLATE).safeParse(templates);
  if (parsed.success) return parsed.data;
  throw new FatalError(
    parsed.error.issues
      .map(({ path, message }) => `${['templates', ...path].join('.')}: ${message}`)
      .join('; '),
  );
}

const MAPPING = 'rest.cloudify_rest.tasks.bunch_execute';

/** Several templates with calls in one operation. */
export const bunchRequests = nodeType({
  description: 'Several templates with calls of an HTTP API in one operation',
  aliases: ['cloudify.rest.BunchRequests'],
  properties: CONNECTION,
  inputs: forEveryOperation(BUNCH_INPUTS),
  mappings: forEveryOperation(MAPPING),
  create: run,
  configure: run,
  start: run,
  stop: run,
  delete: run,
  resumable: EVERY_OPERATION,
});
