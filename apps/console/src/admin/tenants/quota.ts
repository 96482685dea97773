/** Limits of a tenant, as rows to show and as fields of a form. */
import type { TenantQuota } from '../../api/people';

export const LIMITS = [
  'max_deployments',
  'max_running_executions',
  'max_queued_executions',
  'max_storage_bytes',
  'max_requests_per_minute',
] as const;
export type LimitName = (typeof LIMITS)[number];
export type QuotaField = LimitName | 'worker_weight';
export const QUOTA_FIELDS: readonly QuotaField[] = [...LIMITS, 'worker_weight'];

/** The tenant's own limits as texts; an empty text means the default applies. */
export function quotaTexts(quota: TenantQuota): Record<QuotaField, string> {
  const texts = Object.fromEntries(LIMITS.map((name) => [name, String(quota[name].own ?? '')]));
  return { ...texts, worker_weight: String(quota.worker_weight ?? '') } as Record<QuotaField, string>;
}

export type QuotaFault = 'whole' | 'positive';

/** Returns the error of the field's text; null when it is valid. */
export function quotaFault(name: QuotaField, text: string): QuotaFault | null {
  if (text.trim() === '') return null;
  if (name === 'worker_weight') return Number(text) > 0 ? null : 'positive';
  return /^\d{1,15}$/.test(text.trim()) ? null : 'whole';
}

/** Returns the changed fields in the format of the API; null removes the tenant's own limit. */
export function quotaChange(
  before: Record<QuotaField, string>,
  after: Record<QuotaField, string>,
): Partial<Record<QuotaField, number | null>> {
  return Object.fromEntries(
    QUOTA_FIELDS.filter((name) => before[name] !== after[name]).map((name) => [
      name,
      after[name].trim() === '' ? null : Number(after[name]),
    ]),
  );
}
