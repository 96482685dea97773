import { FatalError, nodeType } from '@baton/plugin-sdk';
import { isDict, type Json, pythonText } from '../json';
import { nameOf, RUNTIME, WRITER, type WriterScope } from './schema';
import { removeSecret, writeSecret } from './store';

type Settings = WriterScope['properties'];

/** Properties, with inputs of the same names before them. @throws FatalError for a wrong input */
function settingsOf({ properties, inputs }: WriterScope): Settings {
  const parsed = WRITER.safeParse({ ...properties, ...inputs });
  if (parsed.success) return parsed.data;
  throw new FatalError(
    parsed.error.issues.map(({ path, message }) => `inputs.${path.join('.')}: ${message}`).join('; '),
  );
}

const textOf = (value: Json): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : pythonText(value);

/** Writes each entry in a step of its own, so that delete knows what an attempt that was lost has made. */
async function write(scope: WriterScope, isUpdate: boolean): Promise<void> {
  const { runtime, ctx, log } = scope;
  const settings = settingsOf(scope);
  if (!isDict(settings.entries)) throw new FatalError('entries: expected a dictionary');
  scope.hide(settings.entries);
  if (settings.logs_secrets) log.warning('logs_secrets has no effect: a secret is never logged');
  runtime.do_not_delete = settings.do_not_delete;
  runtime.data ??= {};
  for (const [key, entry] of Object.entries(settings.entries)) {
    const name = nameOf(key, settings);
    const value = textOf(entry);
    const known = await scope.step(`secret ${name}`, async () => {
      const made = await writeSecret(scope, name, { value, isUpdate, mayBeOwn: ctx.isResumed });
      return made as never;
    });
    runtime.data = { ...runtime.data, [key]: known };
    log.info(`The secret ${name} is written`);
  }
}

async function create(scope: WriterScope): Promise<void> {
  await write(scope, settingsOf(scope).update_if_exists);
}

async function update(scope: WriterScope): Promise<void> {
  await write(scope, true);
}

async function remove(scope: WriterScope): Promise<void> {
  const { runtime, log } = scope;
  const settings = settingsOf(scope);
  if (runtime.do_not_delete) log.info('do_not_delete is set: the secrets stay');
  else for (const key of Object.keys(runtime.data ?? {})) await removeSecret(scope, nameOf(key, settings));
  delete runtime.data;
  delete runtime.do_not_delete;
}

/** Secrets with values that a blueprint gives. */
export const secretsWriter = nodeType({
  description: 'Secrets with values that the blueprint gives',
  properties: WRITER,
  runtime: RUNTIME,
  create,
  delete: remove,
  operations: { update: { interface: 'cloudify.interfaces.operations', run: update } },
  mappings: {
    create: 'secrets.cloudify_secrets.tasks.create',
    delete: 'secrets.cloudify_secrets.tasks.delete',
    update: 'secrets.cloudify_secrets.tasks.update',
  },
  resumable: ['create', 'delete', 'update'],
});
