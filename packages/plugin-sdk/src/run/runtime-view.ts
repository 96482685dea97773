import type { InstanceContext } from '../context';
import type { SensitiveRuntime } from './sensitive-runtime';

/**
 * The runtime properties of an instance as an operation may change them. The object of the instance may be replaced, by a step or a
 * refresh; the view always shows the present one. Sensitive ones have their values here, and references in the instance.
 */
export function runtimeView(
  instance: InstanceContext,
  sensitive: SensitiveRuntime | null,
): Record<string, unknown> {
  const present = (): object => instance.runtimeProperties;
  const ours = (name: PropertyKey): name is string => sensitive?.owns(name) ?? false;
  const shown = (value: unknown): PropertyDescriptor | undefined =>
    value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
  return new Proxy<Record<string, unknown>>(
    {},
    {
      get: (_, name) => (ours(name) ? sensitive!.get(name) : Reflect.get(present(), name)),
      has: (_, name) => (ours(name) ? sensitive!.has(name) : Reflect.has(present(), name)),
      ownKeys: () => {
        const plain = Reflect.ownKeys(present()).filter((name) => !ours(name));
        return [...plain, ...(sensitive?.names() ?? [])];
      },
      getOwnPropertyDescriptor: (_, name) =>
        ours(name) ? shown(sensitive!.get(name)) : Reflect.getOwnPropertyDescriptor(present(), name),
      deleteProperty: (_, name) => {
        if (!ours(name)) return Reflect.deleteProperty(present(), name);
        sensitive!.remove(name);
        return true;
      },
      set: (_, name, value) => {
        if (!ours(name)) return Reflect.set(present(), name, value);
        sensitive!.set(name, value);
        return true;
      },
      defineProperty: (_, name, descriptor) => {
        if (!ours(name))
          return Reflect.defineProperty(present(), name, { ...descriptor, configurable: true });
        sensitive!.set(name, descriptor.value);
        return true;
      },
    },
  );
}
