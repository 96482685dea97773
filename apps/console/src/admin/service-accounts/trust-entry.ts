/** Rules of trust, by which a job of another system becomes a service account: in the form, and in the format of the API. */
import { t } from '../../text/text';
import type { TrustRule } from './service-accounts';

export interface TrustEntry {
  issuer: string;
  audience: string;
  subject: string;
  caCertificate: string;
}

export const NEW_TRUST: TrustEntry = { issuer: '', audience: '', subject: '', caCertificate: '' };

export const entriesOf = (trust: readonly TrustRule[]): TrustEntry[] =>
  trust.map(({ issuer, audience, subject, ca_certificate: certificate }) => ({
    issuer,
    audience,
    subject,
    caCertificate: certificate ?? '',
  }));

export const rulesOf = (entries: readonly TrustEntry[]): TrustRule[] =>
  entries.map(({ issuer, audience, subject, caCertificate }) => ({
    issuer: issuer.trim(),
    audience: audience.trim(),
    subject: subject.trim(),
    ...(caCertificate.trim() && { ca_certificate: caCertificate.trim() }),
  }));

/** Returns the errors, by the place in the request body. */
export function faultsOf(entries: readonly TrustEntry[]): Record<string, string> {
  const faults: Record<string, string> = {};
  for (const [at, entry] of entries.entries())
    for (const field of ['issuer', 'audience', 'subject'] as const)
      if (entry[field].trim() === '') faults[`trust[${at}].${field}`] = t.serviceAccounts.faults.missing;
  for (const [at, { subject }] of entries.entries())
    if (subject.trim() === '*') faults[`trust[${at}].subject`] = t.serviceAccounts.faults.everybody;
  return faults;
}
