import type { Json } from '@baton/kernel';
import type { SecretStore } from '../run/secret-store';

/** Secrets of a tenant in memory, where sensitive runtime properties are kept. */
export interface MemorySecrets extends SecretStore {
  /** Values by name. */
  readonly values: ReadonlyMap<string, Json>;
}

export function memorySecrets(): MemorySecrets {
  const values = new Map<string, Json>();
  return {
    values,
    read: async (name) => structuredClone(values.get(name)),
    write: async (name, value) => void values.set(name, structuredClone(value)),
    remove: async (name) => void values.delete(name),
  };
}
