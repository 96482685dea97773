import type { TrustRule } from '@baton/contracts/http/service-accounts';
import { badParameter, defineFormat, requireFormat } from '@baton/kernel';
import { requireIssuer } from '../../providers/domain/oidc-settings';
import { requireCertificate } from '../../providers/domain/provider';

/**
 * Checks the rules of a service account.
 * @throws AppError bad_parameters_error with the path of the field
 */
export function checkTrust(rules: readonly TrustRule[]): void {
  for (const [at, { issuer, subject, ca_certificate: certificate }] of rules.entries()) {
    requireIssuer(issuer, `trust.${at}.issuer`);
    if (certificate != null) requireCertificate(certificate, `trust.${at}.ca_certificate`);
    const star = subject.indexOf('*');
    // A rule for every subject would let each customer of a public issuer in.
    if (star === 0 || (star > 0 && star < subject.length - 1))
      throw badParameter(`trust.${at}.subject`, `Invalid subject \`${subject.slice(0, 100)}\``, {
        expected: 'the whole subject, or its beginning with a * at the end',
      });
  }
}

/** Whether the subject is the one of the rule, or begins as the rule says. Letters count as they are. */
export function fitsSubject(rule: Pick<TrustRule, 'subject'>, subject: string): boolean {
  return rule.subject.endsWith('*')
    ? subject.startsWith(rule.subject.slice(0, -1)) && subject.length >= rule.subject.length
    : subject === rule.subject;
}

const format = defineFormat('trust of a service account', 1, [1]);

export const storedTrust = (rules: readonly TrustRule[]) => ({ format: format.written, rules: [...rules] });

/** Reads the rules of a row. @throws AppError internal_server_error for the format of a later release */
export function trustOf(stored: unknown, name: string): TrustRule[] {
  const { format: found, rules } = stored as { format: number; rules: TrustRule[] };
  requireFormat(format, found, `service account ${name}`);
  return rules;
}
