import { createHash } from 'node:crypto';
import {
  type Fate,
  type ImportContext,
  type Importer,
  lost,
  metFate,
  roomFor,
  takeValid,
} from '@baton/import-part';
import { canonicalJson, isAppError, type JsonObject } from '@baton/kernel';
import { connectionOf, type ProviderType, providerTypes } from '../domain/provider';
import { openParameters, sealParameters, type ValueDeps } from '../queries/read-value';
import type { ProviderRow } from '../store/providers.sql';
import { type ProviderRecord, providerRecord } from './records';
import { holdNames, rowsNamed } from './rivals';
import { writeProvider } from './secrets-import.sql';

type Deps = Pick<ValueDeps, 'masters'>;

const isKnown = (type: string): type is ProviderType => (providerTypes as readonly string[]).includes(type);

/** Secrets providers. They are not called: the providers of an estate may not be reachable yet. */
export function providersImporter(deps: Deps): Importer {
  return {
    type: 'secrets_providers',
    take: (context, records) =>
      takeValid(records, providerRecord, 'name', async (valid) => {
        await holdNames(context, 'secrets_providers');
        const names = valid.map(({ name }) => name);
        const here = await rowsNamed<ProviderRow>(
          context.client,
          { table: 'secrets_providers', column: 'name' },
          names,
        );
        const fates: Fate[] = [];
        for (const record of valid) fates.push(await takeProvider(deps, context, record, here));
        return fates;
      }),
  };
}

async function takeProvider(
  deps: Deps,
  context: ImportContext,
  record: ProviderRecord,
  here: Map<string, ProviderRow[]>,
): Promise<Fate> {
  const { name: id, type } = record;
  if (!type || !isKnown(type))
    return lost(
      id,
      'provider_type_unknown',
      `this manager has no secrets providers of its type; it has ${providerTypes.join(', ')}`,
    );
  const parameters = record.connection_parameters ?? {};
  const fault = parameterFault(type, parameters);
  if (fault !== null) return lost(id, 'invalid', fault);
  const rows = here.get(id) ?? [];
  const own = rows.find(({ tenant }) => tenant === context.tenant);
  const others = rows.filter((row) => row !== own);
  const room = roomFor(id, record.visibility, others);
  if ('fate' in room) return room.fate;
  const wanted = { type, visibility: room.visibility, parameters };
  const fate: Fate = own
    ? metFate(context, {
        id,
        met: metText(own),
        isSame: isSame(deps, own, wanted),
        what: 'a secrets provider of this name',
      })
    : { id, fate: 'imported', ...room.told };
  if (fate.fate !== 'imported' && fate.fate !== 'replaced') return fate;
  const identity = { tenant: context.tenant, name: id, version: (own?.version ?? 0) + 1 };
  const sealed = sealParameters(deps.masters, identity, parameters);
  const row = await writeProvider(context.client, { ...identity, ...wanted, sealed, record });
  here.set(id, [...others, row]);
  return fate;
}

/** Names the field, never its value. */
function parameterFault(type: ProviderType, parameters: JsonObject): string | null {
  try {
    connectionOf(type, parameters);
    return null;
  } catch (error) {
    if (!isAppError(error)) throw error;
    return error.message;
  }
}

const metText = ({ ciphertext, version, visibility, type }: ProviderRow): string =>
  canonicalJson([type, visibility, version, createHash('sha256').update(ciphertext).digest('hex')]);

function isSame(
  { masters }: Deps,
  own: ProviderRow,
  wanted: { type: string; visibility: string; parameters: JsonObject },
): boolean {
  return (
    own.type === wanted.type &&
    own.visibility === wanted.visibility &&
    canonicalJson(openParameters(masters, own)) === canonicalJson(wanted.parameters)
  );
}
