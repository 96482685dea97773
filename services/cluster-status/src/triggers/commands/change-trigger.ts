/**
 * Writes triggers. The secret is sealed before the transaction; a crash after the commit, before the answer: nobody has the secret,
 * and the user rotates it.
 */
import { randomBytes } from 'node:crypto';
import { isAdministrator, type Principal } from '@baton/contracts';
import type { patchTriggerBody, putTriggerBody, rotateTriggerBody } from '@baton/contracts/http/triggers';
import { AppError, badParameter, type JsonObject, notFound, Secret } from '@baton/kernel';
import { type Db, isUniqueViolation } from '@baton/postgres';
import type { z } from 'zod';
import type { DB } from '../../store/tables.gen';
import type { TextSealPort } from '../../webhooks/adapters/sealed-content';
import { isSigningSecret, newSigningSecret } from '../../webhooks/domain/signature';
import { useOfTrigger } from '../domain/kept-secret';
import {
  countTriggers,
  deleteTrigger,
  findTrigger,
  insertTrigger,
  lockTrigger,
  type TriggerRow,
  type TriggerSettings,
  writeSecret,
  writeSettings,
} from '../store/triggers.sql';

export interface TriggerDeps {
  db: Db<DB>;
  seals: TextSealPort;
}

const MOST_TRIGGERS = 1_000;
/** 160 bits: an address cannot be guessed, and tells nothing of tenant or trigger. */
const ADDRESS_BYTES = 20;

/** Creates a trigger; returns its secret. @throws AppError conflict_error, bad_parameters_error */
export async function createTrigger(
  { db, seals }: TriggerDeps,
  { tenant, username }: Principal,
  id: string,
  { secret: given, fixed_parameters: fixed, ...body }: z.output<typeof putTriggerBody>,
): Promise<Secret> {
  const secret = newSecret(body.scheme, given);
  checkParameters(body.parameters, fixed);
  const address = randomBytes(ADDRESS_BYTES).toString('hex');
  const sealed = await seals.seal({ tenant, use: useOfTrigger(address) }, secret);
  const row = {
    tenant,
    id,
    address,
    ...body,
    fixed_parameters: fixed as JsonObject,
    sealed,
    created_by: username,
  };
  await db
    .tx(async (tx) => {
      if ((await countTriggers(tx, tenant)) >= MOST_TRIGGERS)
        throw new AppError('conflict_error', `The tenant has ${MOST_TRIGGERS} triggers already`);
      await insertTrigger(tx, row);
    })
    .catch((error: unknown) => {
      if (!isUniqueViolation(error)) throw error;
      throw new AppError('conflict_error', `Trigger with ID \`${id}\` already exists`, {
        field: 'trigger_id',
      });
    });
  return secret;
}

/** Deletes a trigger of the caller; an administrator deletes any. @throws AppError not_found_error */
export async function removeTrigger({ db }: TriggerDeps, principal: Principal, id: string): Promise<void> {
  const { tenant, username } = principal;
  const createdBy = isAdministrator(principal) ? undefined : username;
  await db.tx(async (tx) => {
    if (!(await deleteTrigger(tx, { tenant, id }, createdBy))) throw notFound('Trigger', id);
  });
}

/**
 * Changes a trigger. It acts as its creator, so only the creator decides what it starts; administrators enable and disable it.
 * @throws AppError not_found_error, forbidden_error, bad_parameters_error
 */
export async function changeTrigger(
  { db }: Pick<TriggerDeps, 'db'>,
  principal: Principal,
  id: string,
  body: z.output<typeof patchTriggerBody>,
): Promise<void> {
  const present = Object.entries(body).filter(([, value]) => value !== undefined);
  const others = present.map(([name]) => name).filter((name) => name !== 'is_enabled');
  await db.tx(async (tx) => {
    const row = requireSeen(await lockTrigger(tx, { tenant: principal.tenant, id }), principal, id);
    if (others.length > 0) requireCreator(row, principal, others[0]!);
    const settings: TriggerSettings = {
      ...row,
      ...(Object.fromEntries(present) as Partial<TriggerSettings>),
    };
    checkParameters(settings.parameters, settings.fixed_parameters);
    await writeSettings(tx, row.address, settings);
  });
}

/**
 * Makes a new secret, or takes the given one. The former one stays valid for `overlap_s`. Returns the new secret.
 * @throws AppError not_found_error, forbidden_error, conflict_error, bad_parameters_error
 */
export async function rotateTrigger(
  { db, seals }: TriggerDeps,
  principal: Principal,
  id: string,
  { overlap_s: overlapS, secret: given }: z.output<typeof rotateTriggerBody>,
): Promise<Secret> {
  const { tenant } = principal;
  const row = requireSeen(await findTrigger(db.query, { tenant, id }), principal, id);
  requireCreator(row, principal, 'secret');
  const secret = newSecret(row.scheme, given);
  const sealed = await seals.seal({ tenant, use: useOfTrigger(row.address) }, secret);
  await db.tx(async (tx) => {
    if (await writeSecret(tx, row, sealed, overlapS)) return;
    throw new AppError('conflict_error', `Trigger \`${id}\` was changed meanwhile: read it again`, {
      trigger_id: id,
    });
  });
  return secret;
}

/** @throws AppError not_found_error for a trigger that the caller may not see */
function requireSeen(row: TriggerRow | null, principal: Principal, id: string): TriggerRow {
  if (row && (row.created_by === principal.username || isAdministrator(principal))) return row;
  throw notFound('Trigger', id);
}

/** @throws AppError forbidden_error: an administrator would start executions in the name of somebody else */
function requireCreator(row: TriggerRow, { username }: Principal, field: string): void {
  if (row.created_by === username) return;
  throw new AppError(
    'forbidden_error',
    `The trigger acts as \`${row.created_by}\`: only this user changes it`,
    {
      field,
    },
  );
}

/** @throws AppError bad_parameters_error for a given secret that the scheme does not take */
function newSecret(scheme: TriggerRow['scheme'], given: string | undefined): Secret {
  if (given !== undefined && scheme === 'standard' && !isSigningSecret(given))
    throw badParameter('secret', 'The secret has not the form of Standard Webhooks', {
      expected: '`whsec_` and base64 of 24 to 64 bytes',
    });
  return new Secret(given ?? newSigningSecret());
}

/** @throws AppError bad_parameters_error for a parameter that is fixed and mapped */
function checkParameters(mapped: Readonly<Record<string, string>>, fixed: object): void {
  const twice = Object.keys(mapped).find((name) => Object.hasOwn(fixed, name));
  if (twice !== undefined)
    throw badParameter(`fixed_parameters.${twice}`, `The parameter \`${twice}\` is fixed and mapped`);
}
