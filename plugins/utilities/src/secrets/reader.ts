import { FatalError, nodeType } from '@baton/plugin-sdk';
import { type Dict, type Json, listOf } from '../json';
import { nameOf, READER, type ReaderScope, RUNTIME } from './schema';
import { readSecret } from './store';

/** Keeps what the manager knows about each secret, with its value, or with a function that gives it. */
async function read(scope: ReaderScope): Promise<void> {
  const parsed = READER.safeParse({ ...scope.properties, ...scope.inputs });
  if (!parsed.success)
    throw new FatalError('inputs: expected keys, variant, separator and by_reference as in the properties');
  const settings = parsed.data;
  const data: Dict = {};
  for (const key of listOf(settings.keys).map(String)) {
    const name = nameOf(key, settings);
    const found = await readSecret(scope, name);
    if (found === null) throw new FatalError(`there is no secret ${name}`);
    data[key] = {
      ...found,
      value: settings.by_reference ? { get_secret: name } : parsedValue(found.value ?? ''),
    };
  }
  scope.runtime.data = data;
}

/** The value of JSON, or else the text. */
function parsedValue(value: Json): Json {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return value;
  }
}

/** Secrets as runtime properties. */
export const secretsReader = nodeType({
  description: 'Secrets as runtime properties',
  properties: READER,
  runtime: RUNTIME,
  create: read,
  operations: { update: { interface: 'cloudify.interfaces.operations', run: read } },
  mappings: { create: 'secrets.cloudify_secrets.tasks.read', update: 'secrets.cloudify_secrets.tasks.read' },
  resumable: ['create', 'update'],
});
