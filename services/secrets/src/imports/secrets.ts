import { createHash } from 'node:crypto';
import type { Visibility } from '@baton/contracts';
import {
  type Fate,
  type ImportContext,
  type Importer,
  lost,
  metFate,
  roomFor,
  takeValid,
} from '@baton/import-part';
import { canonicalJson, isAppError, type Json, type JsonObject, Secret } from '@baton/kernel';
import { storedText } from '../adapters/secret-value';
import { sealValue } from '../domain/envelope';
import { type SecretContent, useOf, writeContent } from '../domain/secret-content';
import { openContent, type ValueDeps } from '../queries/read-value';
import type { SecretRow } from '../store/secrets.sql';
import { type SecretRecord, secretRecord } from './records';
import { holdNames, rowsNamed } from './rivals';
import { type ImportedSecret, providersNamed, type UsableProvider, writeSecrets } from './secrets-import.sql';

type Deps = Pick<ValueDeps, 'masters'>;

interface Here {
  secrets: ReadonlyMap<string, SecretRow[]>;
  providers: ReadonlyMap<string, UsableProvider>;
  /** What the batch writes, by key. */
  written: Map<string, ImportedSecret>;
}

/** Secrets with their values, sealed as every secret. Texts of fates name secrets and never hold a value. */
export function secretsImporter(deps: Deps): Importer {
  return {
    type: 'secrets',
    take: (context, records) =>
      takeValid(records, secretRecord, 'key', async (valid) => {
        await holdNames(context, 'secrets');
        const keys = valid.map(({ key }) => key);
        const names = valid.flatMap(({ provider_name: name }) => (name ? [name] : []));
        const here: Here = {
          secrets: await rowsNamed<SecretRow>(context.client, { table: 'secrets', column: 'key' }, keys),
          providers: await providersNamed(context.client, context.tenant, names),
          written: new Map(),
        };
        const fates: Fate[] = [];
        for (const record of valid) fates.push(takeSecret(deps, context, record, here));
        await writeSecrets(context.client, [...here.written.values()]);
        return fates;
      }),
  };
}

interface Wanted {
  visibility: Visibility;
  is_hidden_value: boolean;
  schema: JsonObject | null;
  provider: UsableProvider | null;
  content: SecretContent;
}

function takeSecret(deps: Deps, context: ImportContext, record: SecretRecord, here: Here): Fate {
  const { key: id, created_by, created_at } = record;
  if (here.written.has(id)) return lost(id, 'repeated', 'the archive has another secret of this key');
  const rows = here.secrets.get(id) ?? [];
  const own = rows.find(({ tenant }) => tenant === context.tenant);
  const others = rows.filter((row) => row !== own);
  const room = roomFor(id, record.visibility, others);
  if ('fate' in room) return room.fate;
  const read = contentOf(record, here.providers);
  if ('fate' in read) return read.fate;
  const wanted: Wanted = {
    ...read,
    visibility: room.visibility,
    is_hidden_value: record.is_hidden_value,
    schema: record.schema ?? null,
  };
  const fate: Fate = own
    ? metFate(context, {
        id,
        met: metText(own),
        isSame: isSame(deps, own, wanted),
        what: 'a secret of this key',
      })
    : { id, fate: 'imported', ...room.told, ...schemaFault(wanted) };
  if (fate.fate !== 'imported' && fate.fate !== 'replaced') return fate;
  const identity = { tenant: context.tenant, key: id, version: (own?.version ?? 0) + 1 };
  const isProvided = wanted.provider !== null;
  const sealed = sealValue(
    deps.masters[0]!,
    identity,
    writeContent(wanted.content, isProvided),
    useOf(isProvided),
  );
  here.written.set(id, { ...identity, ...wanted, sealed, created_by, created_at });
  return fate;
}

/** What is to be sealed, or why it cannot be. */
function contentOf(
  record: SecretRecord,
  providers: ReadonlyMap<string, UsableProvider>,
): Pick<Wanted, 'provider' | 'content'> | { fate: Fate } {
  const { key: id, value, provider_name: name, provider_options: options } = record;
  const provider = name ? providers.get(name) : null;
  if (provider === undefined)
    return { fate: lost(id, 'provider_missing', `its secrets provider ${name} is not here`) };
  const isOutside = provider !== null && provider.type !== 'local';
  if (!isOutside && !value)
    return {
      fate: lost(
        id,
        'value_missing',
        'the archive has no value that could be read: its key is missing or another one',
      ),
    };
  return {
    provider,
    content: {
      value: isOutside ? null : new Secret(value!),
      options: provider === null ? null : (options ?? null),
    },
  };
}

/** A value that does not fit its schema is kept as it is, and told: the old manager had it so. */
function schemaFault({ schema, content }: Wanted): Pick<Fate, 'code' | 'text'> {
  if (schema === null || content.value === null) return {};
  try {
    storedText(parsed(content.value), schema);
    return {};
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { code: 'schema_mismatch', text: 'its value does not fit its schema, and is kept as it was' };
  }
}

function parsed(value: Secret): Json {
  try {
    return JSON.parse(value.expose()) as Json;
  } catch {
    return value.expose();
  }
}

/** The content as a digest of what is stored: it changes with each new value, and tells nothing of it. */
const metText = (row: SecretRow): string =>
  canonicalJson([
    row.visibility,
    row.is_hidden_value,
    row.schema,
    row.provider_name,
    row.version,
    createHash('sha256').update(row.ciphertext).digest('hex'),
  ]);

function isSame({ masters }: Deps, own: SecretRow, wanted: Wanted): boolean {
  const plain = (
    one: Pick<Wanted, 'visibility' | 'is_hidden_value' | 'schema'>,
    provider: string | null,
  ): string => canonicalJson([one.visibility, one.is_hidden_value, one.schema, provider]);
  if (plain(own, own.provider_name) !== plain(wanted, wanted.provider?.name ?? null)) return false;
  const { value, options } = openContent(masters, own);
  return (
    value?.expose() === wanted.content.value?.expose() &&
    canonicalJson(options) === canonicalJson(wanted.content.options)
  );
}
