/** Names whose values are never shown, besides those that a blueprint names in `sensitive_keys`. */
const ALWAYS = [
  ...['ansible_password', 'ansible_ssh_pass', 'ansible_ssh_password', 'ansible_become_pass'],
  ...['ansible_become_password', 'ansible_sudo_pass', 'ansible_ssh_private_key_file', 'vault_password'],
];

/** A key of an inventory may hold the key itself or the path of its file. */
const KEY_TEXT = /-----BEGIN /;

/** Whether the value of the name must not be shown. A path of a private key may be shown, its text may not. */
export function isSensitive(name: string, value: unknown, sensitiveKeys: readonly string[]): boolean {
  const lower = name.toLowerCase();
  if (lower === 'ansible_ssh_private_key_file') return typeof value === 'string' && KEY_TEXT.test(value);
  return ALWAYS.includes(lower) || sensitiveKeys.some((key) => key.toLowerCase() === lower);
}

/** All values of sensitive names inside of a value, at any depth. */
export function sensitiveValues(value: unknown, sensitiveKeys: readonly string[]): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    isSensitive(name, inner, sensitiveKeys) ? [inner] : sensitiveValues(inner, sensitiveKeys),
  );
}

/** The value without the values of sensitive names. */
export function withoutSensitive(value: unknown, sensitiveKeys: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((inner) => withoutSensitive(inner, sensitiveKeys));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => !isSensitive(name, inner, sensitiveKeys))
      .map(([name, inner]) => [name, withoutSensitive(inner, sensitiveKeys)]),
  );
}
