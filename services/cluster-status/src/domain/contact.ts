/**
 * Returns the customer id of the n-th contact of an organisation, COM-<company>-<n> (reference/rest-api.md 5.12). The company is
 * taken from the domain of the mail address. The original requested the id from its vendor; Baton sends no data out.
 */
export function customerId(organisation: string, number: number): string {
  return `COM-${organisation}-${number}`;
}

/** The name before the last part of a mail domain: ann@mail.example.org -> example. */
export function organisationOf(email: string): string {
  const labels = email
    .slice(email.lastIndexOf('@') + 1)
    .split('.')
    .filter(Boolean);
  const label = labels.length > 1 ? labels.at(-2)! : labels[0];
  return (label ?? '').toLowerCase().replace(/[^\p{L}\p{N}-]/gu, '') || 'unknown';
}
