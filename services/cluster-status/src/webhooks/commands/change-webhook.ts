/**
 * Writes webhooks. The secrets service seals before the transaction; a crash in between leaves nothing behind. A crash after the
 * commit of a creation or rotation, before its answer: nobody has the new secret, and the user rotates.
 */
import type { Principal } from '@baton/contracts';
import type { patchWebhookBody, putWebhookBody } from '@baton/contracts/http/webhooks';
import { checkWrittenAddress, type SafeFetchDeps } from '@baton/http';
import { AppError, badParameter, type Clock, isoInstant, newId, notFound, Secret } from '@baton/kernel';
import { isUniqueViolation, type Tx } from '@baton/postgres';
import type { z } from 'zod';
import type { DB } from '../../store/tables.gen';
import type { TextSealPort } from '../adapters/sealed-content';
import type { Subscription } from '../domain/event';
import { checkedHeaders } from '../domain/headers';
import { type KeptSecrets, readKept, useOf, writeKept } from '../domain/kept-secrets';
import { GIVE_UP_MS } from '../domain/outcome';
import { checkTemplate } from '../domain/render-payload';
import { newSigningSecret } from '../domain/signature';
import { findDelivery } from '../queries/deliveries';
import { restartDelivery, restartWaiting } from '../store/deliveries.sql';
import {
  countWebhooks,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  updateWebhook,
  type WebhookRow,
  writeKeys,
} from '../store/webhooks.sql';
import { type TellDeps, tellInterest, writeDelivery } from './tell-event';

export interface WebhookDeps extends TellDeps {
  seals: TextSealPort;
  clock: Clock;
  /** The addresses that webhooks may lead to. */
  reach: SafeFetchDeps;
}

/** Webhooks of one tenant. */
const MOST_WEBHOOKS = 100;

type Given = z.output<typeof patchWebhookBody>;

/** Creates a webhook; returns its signing secret. @throws AppError conflict_error, bad_parameters_error */
export async function createWebhook(
  deps: WebhookDeps,
  { tenant, username }: Principal,
  id: string,
  body: z.output<typeof putWebhookBody>,
): Promise<Secret> {
  const headers = checkedHeaders(body.headers ?? {});
  const settings = checkedSettings(deps, { ...body, template: body.template ?? null });
  const uid = newId();
  const current = new Secret(newSigningSecret());
  const kept: KeptSecrets = { current, former: null, headers: new Secret(headers) };
  const sealed = await deps.seals.seal({ tenant, use: useOf(uid) }, writeKept(kept));
  const row = {
    tenant,
    id,
    uid,
    ...settings,
    header_names: Object.keys(headers),
    sealed,
    created_by: username,
  };
  await deps.db
    .tx(async (tx) => {
      if ((await countWebhooks(tx, tenant)) >= MOST_WEBHOOKS)
        throw new AppError('conflict_error', `The tenant has ${MOST_WEBHOOKS} webhooks already`, {
          expected: `at most ${MOST_WEBHOOKS} webhooks`,
        });
      await insertWebhook(tx, row);
      await tellInterest(tx, tenant);
    })
    .catch((error: unknown) => {
      if (!isUniqueViolation(error)) throw error;
      throw new AppError('conflict_error', `Webhook with ID \`${id}\` already exists`, {
        field: 'webhook_id',
      });
    });
  return current;
}

/** Changes a webhook. @throws AppError not_found_error, bad_parameters_error, conflict_error */
export async function changeWebhook(
  deps: WebhookDeps,
  { tenant }: Principal,
  id: string,
  body: Given,
): Promise<void> {
  const row = await requireWebhook(deps, tenant, id);
  const changed = { ...row, ...given(body) };
  const settings = checkedSettings(deps, changed);
  const next: WebhookRow = { ...row, ...settings };
  if (body.headers !== undefined) {
    const headers = checkedHeaders(body.headers ?? {});
    next.sealed = await sealAgain(deps, row, { headers: new Secret(headers) });
    next.header_names = Object.keys(headers);
  }
  await deps.db.tx(async (tx) => {
    requireUnchanged(await updateWebhook(tx, next), id);
    if (next.is_enabled && !row.is_enabled) await restartWaiting(tx, row.uid, GIVE_UP_MS);
    await tellInterest(tx, tenant);
  });
  deps.kick();
}

export async function removeWebhook(deps: WebhookDeps, { tenant }: Principal, id: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    if (!(await deleteWebhook(tx, { tenant, id }))) throw notFound('Webhook', id);
    await tellInterest(tx, tenant);
  });
}

/**
 * Makes a new signing key. The former one stays valid for `overlapS`: requests carry both signatures meanwhile. Returns the new
 * secret. @throws AppError not_found_error, conflict_error
 */
export async function rotateWebhook(
  deps: WebhookDeps,
  { tenant }: Principal,
  id: string,
  overlapS: number,
): Promise<Secret> {
  const row = await requireWebhook(deps, tenant, id);
  const opened = await deps.seals.open({ tenant, use: useOf(row.uid) }, row.sealed);
  const before = opened && readKept(opened.text);
  const untilMs = before === null || overlapS === 0 ? null : deps.clock.now() + overlapS * 1_000;
  const current = new Secret(newSigningSecret());
  const kept: KeptSecrets = {
    current,
    former: before === null || untilMs === null ? null : { secret: before.current, untilMs },
    headers: before?.headers ?? new Secret({}),
  };
  const sealed = await deps.seals.seal({ tenant, use: useOf(row.uid) }, writeKept(kept));
  await deps.db.tx(async (tx) =>
    requireUnchanged(await writeKeys(tx, { uid: row.uid, version: row.version, sealed }, untilMs), id),
  );
  return current;
}

/** Sends the event `ping`; returns the id of its delivery. */
export async function pingWebhook(
  deps: WebhookDeps,
  { tenant, username }: Principal,
  id: string,
): Promise<string> {
  const delivery = await deps.db.tx(async (tx) => {
    const row = await requireWebhookIn(tx, tenant, id);
    requireEnabled(row);
    const time = isoInstant(deps.clock.now());
    const data = { webhook_id: id, sent_by: username };
    return writeDelivery(tx, row, { id: `ping ${newId()}`, tenant, type: 'ping', time, data });
  });
  deps.kick();
  return delivery!;
}

/** Sends an ended delivery again under the same id. @throws AppError not_found_error, conflict_error when it has not ended */
export async function redeliver(
  deps: WebhookDeps,
  { tenant }: Principal,
  of: { webhook: string; delivery: string },
): Promise<void> {
  await deps.db.tx(async (tx) => {
    const row = await requireWebhookIn(tx, tenant, of.webhook);
    requireEnabled(row);
    await findDelivery(tx, tenant, of.webhook, of.delivery);
    if (!(await restartDelivery(tx, of.delivery, GIVE_UP_MS)))
      throw new AppError('conflict_error', `Delivery \`${of.delivery}\` is still pending`, {
        state: 'pending',
      });
  });
  deps.kick();
}

async function requireWebhook(deps: WebhookDeps, tenant: string, id: string): Promise<WebhookRow> {
  const row = await findWebhook(deps.db.query, { tenant, id });
  if (!row) throw notFound('Webhook', id);
  return row;
}

async function requireWebhookIn(tx: Tx<DB>, tenant: string, id: string): Promise<WebhookRow> {
  const row = await findWebhook(tx, { tenant, id });
  if (!row) throw notFound('Webhook', id);
  return row;
}

function requireEnabled({ id, is_enabled: isEnabled }: WebhookRow): void {
  if (isEnabled) return;
  throw new AppError('conflict_error', `Webhook \`${id}\` is disabled: enable it first`, {
    field: 'is_enabled',
  });
}

function requireUnchanged(isWritten: boolean, id: string): void {
  if (isWritten) return;
  throw new AppError('conflict_error', `Webhook \`${id}\` was changed meanwhile: read it again`, {
    webhook_id: id,
  });
}

/** @throws AppError conflict_error when the sealed content cannot be opened any more. */
async function sealAgain(
  deps: WebhookDeps,
  { tenant, uid, id, sealed }: WebhookRow,
  change: Partial<KeptSecrets>,
): Promise<Buffer> {
  const of = { tenant, use: useOf(uid) };
  const opened = await deps.seals.open(of, sealed);
  if (opened === null)
    throw new AppError(
      'conflict_error',
      `The signing key of webhook \`${id}\` cannot be read: rotate it first`,
    );
  return deps.seals.seal(of, writeKept({ ...readKept(opened.text), ...change }));
}

/** The fields of a change that are present, in the names of the row. */
function given({ headers: _headers, ...body }: Given): Partial<Omit<Settings, 'host'>> {
  const present = Object.entries(body).filter(([, value]) => value !== undefined);
  const fields = Object.fromEntries(present) as Partial<Omit<Settings, 'host'>>;
  // A new format without a template takes none over from the former format.
  return body.format !== undefined && body.format !== 'template' ? { ...fields, template: null } : fields;
}

interface Settings extends Subscription {
  url: string;
  host: string;
  max_attempts: number;
  is_enabled: boolean;
}

/** Checks settings against each other, and the address as it is written. @throws AppError bad_parameters_error */
function checkedSettings(
  deps: Pick<WebhookDeps, 'reach'>,
  o: Omit<Settings, 'host' | 'order_by' | 'filter'> & {
    order_by?: string | null;
    filter?: Subscription['filter'];
  },
): Settings {
  const { host } = checkWrittenAddress(o.url, 'url', deps.reach);
  if (o.format === 'template' && !o.template)
    throw badParameter('template', 'The format template needs a template', { expected: 'template' });
  if (o.format !== 'template' && o.template)
    throw badParameter('template', `The format ${o.format} takes no template`, {
      expected: 'format: template',
    });
  if (o.template) checkTemplate(o.template);
  return {
    url: o.url,
    host,
    events: o.events,
    filter: o.filter ?? null,
    format: o.format,
    template: o.template ?? null,
    order_by: o.order_by ?? null,
    max_attempts: o.max_attempts,
    is_enabled: o.is_enabled,
  };
}
