/**
 * Writes secrets providers (reference/rest-api.md 5.23). A provider outside of the manager is tested before it is stored. The
 * test runs before the transaction, so a crash in between leaves nothing behind.
 */
import {
  type FindUser,
  ownershipOf,
  type Principal,
  requireOwnTenant,
  type Visibility,
  visibilityOfNew,
  widensVisibility,
} from '@baton/contracts';
import { AppError, badParameter, type JsonObject, notFound } from '@baton/kernel';
import { isForeignKeyViolation, outsideRequests } from '@baton/postgres';
import { connectionOf, type ProviderType } from '../domain/provider';
import { visibleProvider } from '../queries/read-providers';
import { openParameters, sealParameters, type ValueDeps } from '../queries/read-value';
import {
  deleteProvider,
  findProvidersByName,
  insertProvider,
  isProviderUsed,
  lockProviderName,
  updateProvider,
} from '../store/providers.sql';

export interface ProviderInput {
  type?: ProviderType;
  connection_parameters?: JsonObject | null;
  visibility?: Visibility;
}

/** Checks that the provider can be reached and accepts the credentials. @throws AppError bad_parameters_error, failed_dependency */
async function tryProvider(
  deps: ValueDeps,
  type: ProviderType,
  parameters: JsonObject | null | undefined,
): Promise<void> {
  const connection = connectionOf(type, parameters);
  if (connection.type !== 'local') await deps.providers.check(connection);
}

function taken(name: string): AppError {
  return new AppError('conflict_error', `Secrets provider \`${name}\` already exists`, { name });
}

function used(name: string): AppError {
  return new AppError('conflict_error', `Secrets provider \`${name}\` is used by secrets`, { name });
}

/** Handles `test` of PUT: tests the described provider, or, when only a name is given, the stored provider with that name. */
export async function checkProvider(
  deps: ValueDeps,
  principal: Principal,
  name: string | undefined,
  input: ProviderInput,
): Promise<void> {
  if (input.type !== undefined) return tryProvider(deps, input.type, input.connection_parameters);
  if (name === undefined)
    throw badParameter('type', 'type is missing', { expected: 'type, or the name of a provider' });
  const known = await visibleProvider(deps, principal, name);
  const parameters = input.connection_parameters ?? openParameters(deps.masters, known);
  await tryProvider(deps, known.type, parameters);
}

/** PUT /secrets-providers. @throws AppError conflict_error, failed_dependency */
export async function createProvider(
  deps: ValueDeps & { findUser: FindUser },
  principal: Principal,
  name: string,
  input: ProviderInput & { type: ProviderType; created_at?: string; created_by?: string },
): Promise<void> {
  const { tenant } = principal;
  const visibility = visibilityOfNew(principal, input.visibility, undefined);
  const owner = await ownershipOf(principal, input, deps.findUser);
  await tryProvider(deps, input.type, input.connection_parameters);
  await deps.db.tx(async (tx) => {
    await lockProviderName(tx, name);
    const rivals = await findProvidersByName(tx, name);
    const isTaken = rivals.some(
      (row) => row.tenant === tenant || row.visibility === 'global' || visibility === 'global',
    );
    if (isTaken) throw taken(name);
    const identity = { tenant, name, version: 1 };
    await insertProvider(tx, {
      ...identity,
      type: input.type,
      created_by: owner.createdBy,
      created_at: owner.createdAt,
      visibility,
      sealed: sealParameters(deps.masters, identity, input.connection_parameters ?? {}),
    });
  });
}

/** PATCH /secrets-providers/{name}: fields that are not given stay. @throws AppError */
export async function changeProvider(
  deps: ValueDeps,
  principal: Principal,
  name: string,
  input: ProviderInput,
): Promise<void> {
  const seen = await visibleProvider(deps, principal, name);
  requireOwnTenant(principal, seen.tenant, `secrets provider \`${name}\``);
  if (input.type === undefined && input.connection_parameters === undefined && input.visibility === undefined)
    throw new AppError('illegal_action_error', 'The body changes nothing', {
      expected: ['type', 'connection_parameters', 'visibility'],
    });
  const type = input.type ?? seen.type;
  const isSameKind = type === seen.type;
  const parameters = input.connection_parameters ?? (isSameKind ? openParameters(deps.masters, seen) : {});
  if (!isSameKind && (await outsideRequests(() => isProviderUsed(deps.db.query, seen.tenant, name))))
    throw used(name);
  if (input.connection_parameters !== undefined || !isSameKind) await tryProvider(deps, type, parameters);
  await deps.db.tx(async (tx) => {
    await lockProviderName(tx, name);
    const all = await findProvidersByName(tx, name);
    const row = all.find((one) => one.tenant === principal.tenant);
    if (row === undefined) throw notFound('Secrets provider', name);
    if (row.version !== seen.version)
      throw new AppError('conflict_error', `Secrets provider \`${name}\` was changed meanwhile`, { name });
    const wanted = input.visibility ?? row.visibility;
    const isWidened = widensVisibility(principal, row.visibility, wanted);
    if (isWidened && wanted === 'global' && all.length > 1) throw taken(name);
    const identity = { tenant: row.tenant, name, version: row.version + 1 };
    const sealed = sealParameters(deps.masters, identity, parameters);
    await updateProvider(tx, row, { type, visibility: wanted, sealed, version: identity.version });
  });
}

/** DELETE /secrets-providers/{name}. @throws AppError conflict_error while secrets use the provider */
export async function removeProvider(deps: ValueDeps, principal: Principal, name: string): Promise<void> {
  const seen = await visibleProvider(deps, principal, name);
  requireOwnTenant(principal, seen.tenant, `secrets provider \`${name}\``);
  try {
    await deps.db.tx((tx) => deleteProvider(tx, seen.tenant, name));
  } catch (error) {
    if (!isForeignKeyViolation(error, 'secrets_provider')) throw error;
    throw used(name);
  }
}
