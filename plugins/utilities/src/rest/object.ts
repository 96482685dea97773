import { type NodeScope, type NoValues, nodeType, type UpdateScope } from '@baton/plugin-sdk';
import * as z from 'zod';
import { asDict, type Dict, dictOf, isSame } from '../json';
import { runTemplate, type TemplateRun } from './run-template';
import { CONNECTION } from './schema';
import { GoneError } from './send';

const PROPERTIES = CONNECTION.extend({
  templates: z
    .object({
      create: z.string().describe('File of the blueprint with the calls that make the object'),
      read: z.string().describe('Calls that read the object. They change nothing'),
      update: z
        .string()
        .default('')
        .describe('Calls that bring the object up to date. Empty: it is deleted and made again'),
      delete: z.string().default('').describe('Calls that delete the object. Empty: it stays'),
    })
    .describe('Templates of the object'),
  expected: z
    .any()
    .default({})
    .describe(
      'Values that the object must have, by the names that the read template gives. Templates know them as expected',
    ),
  missing_codes: z
    .array(z.int())
    .default([404, 410])
    .describe('Codes by which the server says that there is no such object'),
  idempotency_header: z
    .string()
    .default('')
    .describe(
      'Header for a key that is the same in each try of a call, when the API knows one: Idempotency-Key',
    ),
});

type ObjectScope = NodeScope<typeof PROPERTIES, NoValues>;
type Action = 'create' | 'read' | 'update' | 'delete';

async function runFor(scope: ObjectScope, action: Action, more: Partial<TemplateRun> = {}): Promise<Dict> {
  const { params, templates, expected, missing_codes, idempotency_header, ...connection } =
    scope.properties as typeof scope.properties & Dict;
  const { result_properties: result } = await runTemplate(scope, {
    file: templates[action],
    connection: connection as Dict,
    stepKey: action === 'read' ? undefined : `${action}, `,
    idempotencyHeader: idempotency_header,
    send: action === 'read' || action === 'delete' ? { missingCodes: missing_codes } : {},
    ...more,
    variables: { ...dictOf(params), ...asDict(scope.runtime), expected: dictOf(expected), ...more.variables },
  });
  return result;
}

/** Makes the object; what the template takes from answers becomes runtime properties. */
async function create(scope: ObjectScope): Promise<void> {
  Object.assign(scope.runtime, await runFor(scope, 'create'));
}

/** Reads the values that are expected; null: the server says that there is no such object. */
async function read(scope: ObjectScope): Promise<{ expected: Dict } | null> {
  const names = Object.keys(dictOf(scope.properties.expected));
  const defaultTranslation = Object.fromEntries(names.map((name) => [name, [name]]));
  try {
    const found = await runFor(scope, 'read', { defaultTranslation });
    return { expected: Object.fromEntries(names.map((name) => [name, found[name] ?? null])) };
  } catch (error) {
    if (!(error instanceof GoneError)) throw error;
    return isMakingAgain(scope) ? { expected: {} } : null;
  }
}

/** Whether an update that makes the object again was lost with its worker, perhaps between the two halves. */
const isMakingAgain = ({ ctx, properties }: ObjectScope): boolean =>
  ctx.isResumed && properties.templates.update === '' && /(^|\.)update$/.test(ctx.operation.name);

/** The template gets the expected values that differ as `changes`. */
async function update(scope: UpdateScope<typeof PROPERTIES, NoValues>): Promise<void> {
  if (scope.properties.templates.update === '') {
    await remove(scope);
    await create(scope);
    return;
  }
  const present = dictOf((await read(scope))?.expected);
  const expected = dictOf(scope.properties.expected);
  const changes = Object.fromEntries(
    Object.entries(expected).filter(([name, value]) => !isSame(value, present[name])),
  );
  Object.assign(scope.runtime, await runFor(scope, 'update', { variables: { changes } }));
}

async function remove(scope: ObjectScope): Promise<void> {
  if (scope.properties.templates.delete !== '') {
    try {
      await runFor(scope, 'delete');
    } catch (error) {
      if (!(error instanceof GoneError)) throw error;
    }
  }
  const runtime = asDict(scope.runtime);
  for (const name of Object.keys(runtime)) if (!name.startsWith('__baton')) delete runtime[name];
}

/** An object of an HTTP API: made, read, compared with what is expected, brought up to date and deleted by templates. */
export const restObject = nodeType({
  description: 'An object of an HTTP API: made, read, compared, brought up to date and deleted by templates',
  derivedFrom: 'cloudify.nodes.Root',
  properties: PROPERTIES,
  create,
  read,
  compare: ['expected'],
  update,
  delete: remove,
  resumable: ['create', 'update', 'delete'],
});
