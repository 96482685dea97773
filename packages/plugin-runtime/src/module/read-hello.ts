import { WireError } from './frames';

/** A plugin whose code is loaded, as its process describes it. */
export interface LoadedModule {
  name: string;
  version: string;
  /** Whether the operation is resumable, by mapping. */
  operations: ReadonlyMap<string, boolean>;
  /** Whether the code of the workflow is resumable, by mapping. */
  workflows: ReadonlyMap<string, boolean>;
  secrets: readonly string[];
}

const MOST_NAMES = 10_000;
const isName = (value: unknown): value is string => typeof value === 'string' && value.length <= 1_000;
const isMarks = (value: unknown): value is [string, unknown][] =>
  Array.isArray(value) &&
  value.length <= MOST_NAMES &&
  value.every((one) => Array.isArray(one) && isName(one[0]));
const marksOf = (sent: [string, unknown][]): Map<string, boolean> =>
  new Map(sent.map(([mapping, isResumable]) => [mapping, isResumable === true]));

/** @throws WireError when the message is no hello */
export function helloOf(sent: Record<string, unknown>): LoadedModule {
  const { name, version, operations, workflows, secrets } = sent;
  const isWell =
    isName(name) &&
    isName(version) &&
    isMarks(operations) &&
    isMarks(workflows) &&
    Array.isArray(secrets) &&
    secrets.length <= MOST_NAMES &&
    secrets.every(isName);
  if (!isWell) throw new WireError('a malformed hello');
  return { name, version, operations: marksOf(operations), workflows: marksOf(workflows), secrets };
}
