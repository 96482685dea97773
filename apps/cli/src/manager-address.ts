import { UsageFailure } from './failure';

/**
 * Returns the address of a manager as scheme, host and port. A text without a scheme means https.
 * @throws UsageFailure for a text that is no address, or names a user, a path or a query
 */
export function managerAddress(text: string): string {
  const given = text.trim();
  const address = given.includes('://') ? given : `https://${given}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  const isPlain =
    url !== null &&
    (url.protocol === 'https:' || url.protocol === 'http:') &&
    // The words of `url` without them: a password in an address stays in the history of the shell.
    url.href === `${url.origin}/`;
  if (isPlain) return url.origin;
  throw new UsageFailure('the address of the manager: expected one such as https://lab:8443');
}
