/**
 * Writes triggers. The secret is sealed before the transaction; a crash after the commit, before the answer: nobody has the secret,
 * and the user deletes the trigger and makes it anew.
 */
import { randomBytes } from 'node:crypto';
import { isAdministrator, type Principal } from '@baton/contracts';
import type { putTriggerBody } from '@baton/contracts/http/triggers';
import { AppError, badParameter, type JsonObject, notFound, Secret } from '@baton/kernel';
import { type Db, isUniqueViolation } from '@baton/postgres';
import type { z } from 'zod';
import type { DB } from '../../store/tables.gen';
import type { TextSealPort } from '../../webhooks/adapters/sealed-content';
import { isSigningSecret, newSigningSecret } from '../../webhooks/domain/signature';
import { useOfTrigger } from '../domain/kept-secret';
import { countTriggers, deleteTrigger, insertTrigger } from '../store/triggers.sql';

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
  if (given !== undefined && body.scheme === 'standard' && !isSigningSecret(given))
    throw badParameter('secret', 'The secret has not the form of Standard Webhooks', {
      expected: '`whsec_` and base64 of 24 to 64 bytes',
    });
  const twice = Object.keys(body.parameters).find((name) => Object.hasOwn(fixed, name));
  if (twice !== undefined)
    throw badParameter(`fixed_parameters.${twice}`, `The parameter \`${twice}\` is fixed and mapped`);
  const secret = new Secret(given ?? newSigningSecret());
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
