import { createVerify, type KeyObject } from 'node:crypto';
import { AppError, err, ok, type Result } from '@baton/kernel';
import { parse } from 'yaml';
import { z } from 'zod';

const YAML_ALIASES = 10;
const NUMBER_OF_DAYS = /^(\d{1,6}) days?$/;
const US_DATE = /^(\d{2})\/(\d{2})\/(\d{4})$/;
const VERSION = /^\d+(\.\d+){0,3}$/;

const content = z.object({
  customer_id: z.string().min(1),
  expiration_date: z.string().nullable(),
  license_edition: z.string(),
  trial: z.boolean(),
  cloudify_version: z.union([z.string(), z.number()]).nullable(),
  capabilities: z.array(z.string()).nullable(),
});
const signatureValue = z.union([
  z.instanceof(Uint8Array),
  z.string().transform((text) => Buffer.from(text, 'base64')),
]);
const file = z.object({ license: z.record(z.string(), z.unknown()), signature: signatureValue.optional() });

/** The content of a license file. An expiration in days counts from the upload. */
export interface License {
  customerId: string;
  expiration: { date: string } | { days: number } | null;
  edition: string;
  isTrial: boolean;
  maxVersion: string | null;
  capabilities: string[] | null;
}

/**
 * Returns the bytes that the signature of a license covers: its `license` mapping as JSON, keys sorted, no blanks, UTF-8. The
 * signature is RSA (PKCS #1 v1.5) with SHA-256. Own choice: the reference says "over the license content" only.
 */
export function signedContent(license: Record<string, unknown>): Buffer {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
  };
  return Buffer.from(JSON.stringify(sorted(license)), 'utf8');
}

/**
 * Reads and checks a license file (reference/rest-api.md 8.3). Without a key, signatures are not checked: on an installation
 * without a key, licenses are for information only.
 */
export function readLicense(
  text: string,
  o: { key: KeyObject | null; managerVersion: string },
): Result<License, AppError> {
  const parsed = parseYaml(text);
  if (!parsed.ok) return parsed;
  const whole = file.safeParse(parsed.value);
  if (!whole.success) return unverified('the file', whole.error);
  const fields = content.safeParse(whole.data.license);
  if (!fields.success) return unverified('license', fields.error);
  if (o.key && !isSignedBy(o.key, whole.data))
    return err(refusal('The signature does not fit the license', 'signature'));
  const { data: said } = fields;
  const expiration = expirationOf(said.expiration_date);
  if (!expiration.ok) return expiration;
  const maxVersion = said.cloudify_version === null ? null : String(said.cloudify_version);
  if (maxVersion !== null && !covers(maxVersion, o.managerVersion)) {
    const message = `The license is for managers up to version ${maxVersion}; this one is ${o.managerVersion}`;
    return err(refusal(message, 'license.cloudify_version'));
  }
  return ok({
    customerId: said.customer_id,
    expiration: expiration.value,
    edition: said.license_edition,
    isTrial: said.trial,
    maxVersion,
    capabilities: said.capabilities,
  });
}

function parseYaml(text: string): Result<object, AppError> {
  const invalid = (reason: string) =>
    err(new AppError('invalid_yaml_format', `The license is not valid YAML: ${reason}`));
  try {
    const value: unknown = parse(text, {
      customTags: ['binary'],
      maxAliasCount: YAML_ALIASES,
      logLevel: 'error',
    });
    return typeof value === 'object' && value !== null ? ok(value) : invalid('it holds no keys');
  } catch (error) {
    return invalid((error as Error).message);
  }
}

function isSignedBy(
  key: KeyObject,
  signed: { license: Record<string, unknown>; signature?: Uint8Array },
): boolean {
  if (!signed.signature) return false;
  return createVerify('RSA-SHA256').update(signedContent(signed.license)).verify(key, signed.signature);
}

function expirationOf(said: string | null): Result<License['expiration'], AppError> {
  if (said === null) return ok(null);
  const days = NUMBER_OF_DAYS.exec(said);
  if (days) return ok({ days: Number(days[1]) });
  const [, month, day, year] = US_DATE.exec(said) ?? [];
  const date = `${year}-${month}-${day}T00:00:00.000Z`;
  // The pattern also accepts 02/30; `Date` turns such a date into another day, which the comparison detects.
  const ms = Date.parse(date);
  if (!Number.isNaN(ms) && new Date(ms).toISOString() === date) return ok({ date });
  return err(
    refusal(`\`${said}\` is no expiration date`, 'license.expiration_date', 'MM/DD/YYYY, `<N> days` or null'),
  );
}

/** Returns whether a license up to version `max` covers `version`. A part that `max` leaves out matches every value. */
function covers(max: string, version: string): boolean {
  if (!VERSION.test(max)) return false;
  const allowed = max.split('.').map(Number);
  const own = version.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0);
  for (const [i, most] of allowed.entries()) {
    if ((own[i] ?? 0) !== most) return (own[i] ?? 0) < most;
  }
  return true;
}

function refusal(message: string, field: string, expected?: string): AppError {
  return new AppError('unverified_cloudify_license', message, expected ? { field, expected } : { field });
}

function unverified(where: string, error: z.ZodError): Result<never, AppError> {
  const [issue] = error.issues;
  const path = issue!.path.map(String).join('.');
  const field = where === 'license' ? `license.${path}` : path;
  return err(refusal(`The license cannot be verified: ${field}: ${issue!.message}`, field));
}
