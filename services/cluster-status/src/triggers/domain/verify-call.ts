/** Decides whether a request to a trigger is genuine, and under which id it counts once. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '@baton/kernel';
import { hasSignature } from '../../webhooks/domain/signature';

/** Largest difference between the signed time and ours, as Standard Webhooks recommends. */
const TOLERANCE_S = 300;
const MAX_ID = 256;
const GITHUB = /^sha256=([0-9a-f]{64})$/i;

export interface TriggerCall {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
  nowMs: number;
}

export type Scheme = 'standard' | 'github';

/** Returns the id of a genuine request, at most 256 characters; null for every other request. */
export function verifiedId(scheme: Scheme, secret: Secret, call: TriggerCall): string | null {
  return scheme === 'standard' ? standardId(secret, call) : githubId(secret, call);
}

const textOf = (header: string | string[] | undefined): string => (typeof header === 'string' ? header : '');

function standardId(secret: Secret, { headers, body, nowMs }: TriggerCall): string | null {
  const id = textOf(headers['webhook-id']);
  const time = textOf(headers['webhook-timestamp']);
  if (id === '' || id.length > MAX_ID || !/^\d{1,12}$/.test(time)) return null;
  if (Math.abs(nowMs / 1_000 - Number(time)) > TOLERANCE_S) return null;
  const content = { id, timestampS: Number(time), body };
  return hasSignature(secret, content, textOf(headers['webhook-signature'])) ? id : null;
}

/** GitHub signs the body alone. So the body is the id: the same body starts one execution, whenever it is sent again. */
function githubId(secret: Secret, { headers, body }: TriggerCall): string | null {
  const given = GITHUB.exec(textOf(headers['x-hub-signature-256']))?.[1];
  if (given === undefined) return null;
  const expected = createHmac('sha256', secret.expose()).update(body, 'utf8').digest();
  if (!timingSafeEqual(expected, Buffer.from(given, 'hex'))) return null;
  return createHash('sha256').update(body, 'utf8').digest('hex');
}

/** Returns the request id of the execution: the same for the same request, so that executions, too, starts it once. */
export function requestIdOf(address: string, messageId: string): string {
  const hex = createHash('sha256')
    .update(JSON.stringify([address, messageId]))
    .digest('hex');
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) % 4];
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
