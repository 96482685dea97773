/**
 * Body fields that name the resource which a request creates or changes, where its path names none: a user, a member of a tenant,
 * an execution of a deployment. None of them is ever a secret.
 */
const NAMES = ['username', 'group_name', 'tenant_name', 'deployment_id', 'workflow_id'];
/** Longest name; longer texts are not names. */
const MOST_CHARACTERS = 256;

/** Returns the names in a body, for the audit log. */
export function namesIn(body: unknown): Record<string, string> {
  if (typeof body !== 'object' || body === null) return {};
  const fields = body as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = fields[name];
      return typeof value === 'string' && value.length <= MOST_CHARACTERS ? [[name, value]] : [];
    }),
  );
}
