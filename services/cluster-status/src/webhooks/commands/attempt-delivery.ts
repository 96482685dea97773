import type { SafePost } from '@baton/http';
import { type Clock, isAppError, type Log } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import type { TextSealPort } from '../adapters/sealed-content';
import { readKept, signingKeys, useOf } from '../domain/kept-secrets';
import { type AttemptResult, breakMs, decideOutcome, isHostFailure, type Outcome } from '../domain/outcome';
import { signedHeaders } from '../domain/signature';
import {
  closeBreaker,
  countHostFailure,
  type LeasedDelivery,
  openBreaker,
  recordAttempt,
  returnDelivery,
} from '../store/deliveries.sql';
import { disableAndTell, type TellDeps } from './tell-event';

export interface AttemptDeps extends TellDeps {
  seals: TextSealPort;
  post: SafePost;
  clock: Clock;
  log: Log;
}

const ATTEMPT_MS = 15_000;
const MAX_READ_BYTES = 64 * 1024;
const KEPT_BYTES = 1024;
/** Pause after an error of the manager itself, which is no attempt. */
const PAUSE_MS = 10_000;
const UNREADABLE = 'its signing key cannot be read: the master key is missing; rotate it';

/**
 * Makes one attempt at a leased delivery and records it. *Crash between the request and the record:* the lease ends, and any replica
 * sends the delivery again under the same id, so the endpoint may get it twice and never loses it.
 */
export async function attemptDelivery(
  deps: AttemptDeps,
  delivery: LeasedDelivery,
  owner: string,
  stopping: AbortSignal,
): Promise<void> {
  const of = { id: delivery.id, owner, attempts: delivery.attempts };
  try {
    const leasedMs = deps.clock.monotonic();
    const headers = await headersOf(deps, delivery);
    if (headers === null) return await giveUp(deps, delivery, of);
    const sent = await send(deps, delivery, headers, stopping);
    // An attempt that the stop of the process has cut off says nothing about the endpoint.
    if (sent.result.status === null && stopping.aborted) return await returnDelivery(deps.db.query, of, 0);
    const nowMs = delivery.now_ms + deps.clock.monotonic() - leasedMs;
    await record(deps, { ...delivery, now_ms: nowMs }, of, sent);
  } catch (err) {
    deps.log.warn({ err, deliveryId: delivery.id }, 'a delivery of a webhook waits');
    await returnDelivery(deps.db.query, of, PAUSE_MS).catch((cause: unknown) => {
      // The lease ends by itself.
      deps.log.debug({ err: cause, deliveryId: delivery.id }, 'the lease of a delivery was not given back');
    });
  }
}

/** Returns the headers of this attempt, with fresh timestamp and signatures; null when the keys cannot be read. */
async function headersOf(
  deps: AttemptDeps,
  delivery: LeasedDelivery,
): Promise<Record<string, string> | null> {
  const of = { tenant: delivery.tenant, use: useOf(delivery.webhook) };
  const opened = await deps.seals.open(of, delivery.sealed);
  if (opened === null) return null;
  const kept = readKept(opened.text);
  const nowMs = deps.clock.now();
  const content = { id: delivery.id, timestampS: Math.floor(nowMs / 1_000), body: delivery.payload };
  return {
    ...kept.headers.expose(),
    'content-type': delivery.content_type,
    ...signedHeaders(signingKeys(kept, nowMs), content),
  };
}

interface Sent {
  result: AttemptResult;
  /** Beginning of the answer. */
  text: string | null;
}

async function send(
  deps: AttemptDeps,
  { url, payload }: LeasedDelivery,
  headers: Record<string, string>,
  stopping: AbortSignal,
): Promise<Sent> {
  const limits = { totalMs: ATTEMPT_MS, maxReadBytes: MAX_READ_BYTES, keptBytes: KEPT_BYTES };
  try {
    const body = Buffer.from(payload, 'utf8');
    const {
      status,
      headers: answered,
      text,
    } = await deps.post({ url, field: 'url', headers, body, ...limits }, stopping);
    return { result: { status, retryAfter: answered['retry-after'] }, text: storable(text) };
  } catch (error) {
    if (!isAppError(error, 'bad_parameters_error')) throw error;
    return { result: { status: null, reason: String(error.details.reason ?? error.message) }, text: null };
  }
}

/** PostgreSQL stores no NUL. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd');

type Lease = Parameters<typeof recordAttempt>[1];

async function record(
  deps: AttemptDeps,
  delivery: LeasedDelivery,
  of: Lease,
  { result, text }: Sent,
): Promise<void> {
  const outcome = decideOutcome(result, {
    attempts: delivery.attempts,
    maxAttempts: delivery.max_attempts,
    giveUpAtMs: delivery.give_up_ms,
    nowMs: delivery.now_ms,
  });
  await deps.db.tx(async (tx) => {
    const isRecorded = await recordAttempt(tx, of, {
      state: outcome.state,
      status: result.status,
      error: outcome.state === 'delivered' ? null : outcome.error,
      answer: text,
      nextAtMs: outcome.state === 'pending' ? outcome.nextAtMs : null,
    });
    if (!isRecorded) return;
    await judgeHost(tx, delivery, result);
    await judgeWebhook(tx, delivery, outcome);
  });
}

async function judgeHost(tx: Tx<DB>, { tenant, host }: LeasedDelivery, result: AttemptResult): Promise<void> {
  if (!isHostFailure(result)) return closeBreaker(tx, tenant, host);
  const pauseMs = breakMs(await countHostFailure(tx, tenant, host));
  if (pauseMs > 0) await openBreaker(tx, tenant, host, pauseMs);
}

/** A delivery that was given up disables its webhook: nothing else would tell the user that events are lost. */
async function judgeWebhook(tx: Tx<DB>, { webhook }: LeasedDelivery, outcome: Outcome): Promise<void> {
  if (outcome.state === 'failed') await disableAndTell(tx, webhook, outcome.error);
}

async function giveUp(deps: AttemptDeps, delivery: LeasedDelivery, of: Lease): Promise<void> {
  await deps.db.tx(async (tx) => {
    const end = { state: 'failed', status: null, error: UNREADABLE, answer: null, nextAtMs: null } as const;
    if (await recordAttempt(tx, of, end)) await disableAndTell(tx, delivery.webhook, UNREADABLE);
  });
}
