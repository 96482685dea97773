import type { SecretStore } from '../run/secret-store';

/** Secrets of a tenant in memory, where sensitive runtime properties are kept. */
export interface MemorySecrets extends SecretStore {
  /** Values by name. */
  readonly values: ReadonlyMap<string, string>;
}

export function memorySecrets(): MemorySecrets {
  const values = new Map<string, string>();
  return {
    values,
    read: async (name) => values.get(name),
    write: async (name, value) => void values.set(name, value),
    remove: async (name) => void values.delete(name),
  };
}
