import { FatalError } from '@baton/plugin-sdk';

export const listOf = (value: unknown): unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];

/** A list `NAME=value`, or a dictionary. */
export const environmentOf = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.map(String)
    : Object.entries(value as object).map(([name, one]) => (one === null ? name : `${name}=${textOf(one)}`));

const textOf = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);

const withProtocol = (port: string): string => (port.includes('/') ? port : `${port}/tcp`);

/** Ports of the container: a list, or the keys of a dictionary. */
export const exposedPorts = (value: unknown): Record<string, object> =>
  Object.fromEntries(
    (Array.isArray(value)
      ? value.map((one) => String(Array.isArray(one) ? one.join('/') : one))
      : Object.keys(value as object)
    ).map((port) => [withProtocol(port), {}]),
  );

/** Ports of the machine by port of the container: a number, [address, number], a list of these, or null for any. */
export function portBindings(value: unknown): Record<string, { HostIp: string; HostPort: string }[]> {
  if (Array.isArray(value)) return {};
  const one = (binding: unknown): { HostIp: string; HostPort: string } =>
    Array.isArray(binding)
      ? { HostIp: String(binding[0]), HostPort: String(binding[1] ?? '') }
      : { HostIp: '', HostPort: binding === null ? '' : String(binding) };
  const isPlace = (binding: unknown): boolean =>
    Array.isArray(binding) &&
    binding.length === 2 &&
    typeof binding[0] === 'string' &&
    !/^\d+$/.test(binding[0]);
  return Object.fromEntries(
    Object.entries(value as object).map(([port, binding]) => [
      withProtocol(port),
      Array.isArray(binding) && !isPlace(binding) ? binding.map(one) : [one(binding)],
    ]),
  );
}

/** Folders of the machine in the container. With `mapping`, each entry of it belongs to the volume at its place. @throws FatalError */
export function bindsOf(
  value: unknown,
  mapping: unknown,
): { binds: string[]; volumes: Record<string, object> } {
  if (!Array.isArray(value))
    return {
      binds: Object.entries(value as object).map(([from, to]) => {
        if (typeof to === 'string') return `${from}:${to}`;
        const { bind, mode = 'rw' } = to as { bind?: string; mode?: string };
        if (bind === undefined)
          throw new FatalError(`container_args.volumes.${from}: expected bind, and mode`);
        return `${from}:${bind}:${mode}`;
      }),
      volumes: {},
    };
  const texts = value.map(String);
  const paths = listOf(mapping);
  if (paths.length > 0) {
    if (paths.length !== texts.length)
      throw new FatalError(
        `container_args.volumes_mapping: expected ${texts.length} paths, one for each of volumes`,
      );
    return { binds: texts.map((volume, at) => `${String(paths[at])}:${volume}`), volumes: {} };
  }
  const isBind = (text: string): boolean => text.includes(':');
  return {
    binds: texts.filter(isBind),
    volumes: Object.fromEntries(texts.filter((text) => !isBind(text)).map((volume) => [volume, {}])),
  };
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1024,
  m: 1024 ** 2,
  g: 1024 ** 3,
  t: 1024 ** 4,
};

/** Bytes: a number, or a text such as 512m. @throws FatalError */
export function sizeOf(value: unknown): number {
  if (typeof value === 'number') return value;
  const found = /^(-?\d+(?:\.\d+)?)\s*([bkmgt]?)b?$/i.exec(String(value));
  if (found === null)
    throw new FatalError(`container_args: ${JSON.stringify(value)} is no size; expected a number, or 512m`);
  return Math.floor(Number(found[1]) * UNITS[found[2]!.toLowerCase()]!);
}
