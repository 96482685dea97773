import type { InstanceContext } from '../context';
import { FatalError } from '../errors';
import { describeShape, type ObjectSchema } from '../schema/describe';

/**
 * The runtime properties of an instance as an operation may change them.
 * @throws FatalError (its members) when a sensitive one is set: it would be stored in clear
 */
export function runtimeView(
  instance: InstanceContext,
  schema: ObjectSchema | undefined,
): Record<string, unknown> {
  const described = schema === undefined ? {} : describeShape(schema, ['runtime']);
  const isSensitive = (name: PropertyKey): boolean =>
    typeof name === 'string' && Object.hasOwn(described, name) && described[name]!.isSensitive;
  return new Proxy(instance.runtimeProperties, {
    set: (target, name, value) => {
      if (isSensitive(name) && value !== undefined && value !== null) throw refusal(String(name));
      return Reflect.set(target, name, value);
    },
    defineProperty: (target, name, descriptor) => {
      if (isSensitive(name) && descriptor.value !== undefined && descriptor.value !== null)
        throw refusal(String(name));
      return Reflect.defineProperty(target, name, descriptor);
    },
  });
}

const refusal = (name: string): FatalError =>
  new FatalError(
    `runtime.${name} is sensitive and would be stored in clear: keep the value in a secret of the manager, store only the name ` +
      'of the secret, and read the value with secret(name)',
  );
