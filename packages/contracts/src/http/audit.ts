import { isoInstant, parseInstant } from '@baton/kernel';
import { z } from 'zod';
import { defineRoutes } from '../route';
import { instant, jsonObject } from './shapes';

/** One change (reference/rest-api.md 5.28); `chain` is the link in the tamper-evident chain. */
const auditEntry = z
  .object({
    id: z.number().int(),
    ref_table: z.string(),
    ref_id: z.string(),
    ref_identifier: jsonObject,
    operation: z.enum(['create', 'update', 'delete']),
    creator_name: z.string(),
    execution_id: z.string().nullable(),
    created_at: instant,
    request_id: z.string(),
    chain: z.string(),
  })
  .meta({ id: 'AuditEntry' });

const number = (most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value <= most, `must be at most ${most}`);
const time = z
  .string()
  .refine((text) => parseInstant(text) !== null, 'must be an ISO 8601 time')
  .transform((text) => isoInstant(parseInstant(text)!));
const flag = z.string().regex(/^(true|false)$/i, 'must be true or false');
const about = { creator_name: z.string().optional(), execution_id: z.string().optional() };
/** Fields by which entries may be sorted. */
const auditOrders = [
  'id',
  'created_at',
  'ref_table',
  'ref_id',
  'operation',
  'creator_name',
  'execution_id',
] as const;

const common = {
  owner: 'cluster-status',
  tenant: 'none',
  versions: ['v3.1'],
  status: 200,
  spec: 'reference 5.28',
} as const;

export const auditRoutes = defineRoutes([
  {
    ...common,
    id: 'listAudit',
    method: 'GET',
    path: '/audit',
    permission: 'audit_log_view',
    summary:
      'Who changed what; `since` and `before` exclude each other, size 0 is everything (at most 10,000)',
    query: z.object({
      ...about,
      since: time.optional(),
      before: time.optional(),
      order_by: z.union([z.enum(auditOrders), z.array(z.enum(auditOrders))]).optional(),
      desc: flag.optional(),
      offset: number(1_000_000_000).optional(),
      size: number(10_000).optional(),
    }),
    response: z.object({
      items: z.array(auditEntry),
      metadata: z.object({
        pagination: z.object({ total: z.number(), offset: z.number(), size: z.number() }),
      }),
    }),
  },
  {
    ...common,
    id: 'streamAudit',
    method: 'GET',
    path: '/audit/stream',
    permission: 'audit_log_view',
    summary: 'Changes as they are recorded, as server-sent events; ends after `timeout` seconds without one',
    query: z.object({ ...about, since: time.optional(), timeout: number(86_400).optional() }),
    responseKind: 'events',
  },
  {
    ...common,
    id: 'injectAudit',
    method: 'POST',
    path: '/audit',
    permission: 'audit_log_inject',
    summary: 'Adds entries of another manager (restore)',
    body: z
      .array(
        z.object({
          ref_table: z.string().min(1).max(256),
          ref_id: z.union([z.string().max(512), z.number()]).optional(),
          ref_identifier: jsonObject.optional(),
          operation: z.enum(['create', 'update', 'delete']),
          creator_name: z.string().max(256).nullish(),
          execution_id: z.string().max(64).nullish(),
          created_at: time,
        }),
      )
      .max(1000),
    status: 204,
  },
  {
    ...common,
    id: 'truncateAudit',
    method: 'DELETE',
    path: '/audit',
    permission: 'audit_log_truncate',
    summary: 'Deletes entries before a time',
    query: z.object({ ...about, before: time }),
    response: z.object({ deleted: z.number().int() }),
  },
]);
