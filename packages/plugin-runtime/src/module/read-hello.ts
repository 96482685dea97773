import { WireError } from './frames';

/** A plugin whose code is loaded, as its process describes it. */
export interface LoadedModule {
  name: string;
  version: string;
  /** Whether the operation is resumable, by mapping. */
  operations: ReadonlyMap<string, boolean>;
  secrets: readonly string[];
}

const MOST_NAMES = 10_000;
const isName = (value: unknown): value is string => typeof value === 'string' && value.length <= 1_000;

/** @throws WireError when the message is no hello */
export function helloOf({ name, version, operations, secrets }: Record<string, unknown>): LoadedModule {
  const isWell =
    isName(name) &&
    isName(version) &&
    Array.isArray(operations) &&
    operations.length <= MOST_NAMES &&
    operations.every((one) => Array.isArray(one) && isName(one[0])) &&
    Array.isArray(secrets) &&
    secrets.length <= MOST_NAMES &&
    secrets.every(isName);
  if (!isWell) throw new WireError('a malformed hello');
  const marks = operations.map(([mapping, isResumable]): [string, boolean] => [
    mapping,
    isResumable === true,
  ]);
  return { name, version, operations: new Map(marks), secrets };
}
