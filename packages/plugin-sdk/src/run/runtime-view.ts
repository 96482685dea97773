import type { InstanceContext } from '../context';
import { FatalError } from '../errors';
import { describeShape, type ObjectSchema } from '../schema/describe';

/**
 * The runtime properties of an instance as an operation may change them. The object of the instance may be replaced, by a step or a
 * refresh; the view always shows the present one.
 * @throws FatalError (its members) when a sensitive one is set: it would be stored in clear
 */
export function runtimeView(
  instance: InstanceContext,
  schema: ObjectSchema | undefined,
): Record<string, unknown> {
  const described = schema === undefined ? {} : describeShape(schema, ['runtime']);
  const requireClear = (name: PropertyKey, value: unknown): void => {
    if (typeof name !== 'string' || value === undefined || value === null) return;
    if (Object.hasOwn(described, name) && described[name]!.isSensitive) throw refusal(name);
  };
  const present = (): object => instance.runtimeProperties;
  return new Proxy<Record<string, unknown>>(
    {},
    {
      get: (_, name) => Reflect.get(present(), name),
      has: (_, name) => Reflect.has(present(), name),
      ownKeys: () => Reflect.ownKeys(present()),
      getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(present(), name),
      deleteProperty: (_, name) => Reflect.deleteProperty(present(), name),
      set: (_, name, value) => {
        requireClear(name, value);
        return Reflect.set(present(), name, value);
      },
      defineProperty: (_, name, descriptor) => {
        requireClear(name, descriptor.value);
        return Reflect.defineProperty(present(), name, { ...descriptor, configurable: true });
      },
    },
  );
}

const refusal = (name: string): FatalError =>
  new FatalError(
    `runtime.${name} is sensitive and would be stored in clear: keep the value in a secret of the manager, store only the name ` +
      'of the secret, and read the value with secret(name)',
  );
