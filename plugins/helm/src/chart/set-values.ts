// `helm install --set name=value` without the command line: others on the machine see arguments, and values are often secrets.
import { FatalError } from '@baton/plugin-sdk';
import * as z from 'zod';

type Dict = Record<string, unknown>;

const SET = z.array(z.object({ name: z.string(), value: z.any() }));
const MAX_INDEX = 1_000;
const MAX_DEPTH = 50;

/**
 * The dictionary that `--set` makes of names such as `a.b[0].c`: a dot inside of a name is written `\.`. Texts become what helm makes of
 * them: `true`, `false`, `null`, whole numbers, `{a,b}` a list. Other values stay as they are.
 * @throws FatalError for a name that cannot be read
 */
export function valuesOfSets(given: unknown, where: string): Dict {
  const parsed = SET.safeParse(given ?? []);
  if (!parsed.success) throw new FatalError(`${where}: expected a list of dictionaries with name and value`);
  const root: Dict = {};
  for (const { name, value } of parsed.data) setAt(root, pathOf(name, where), typed(value));
  return root;
}

/** Names and indexes of a path. */
function pathOf(name: string, where: string): (string | number)[] {
  const path: (string | number)[] = [];
  const part = /((?:\\.|[^.[\]\\])+)|\[(\d+)\]|(\.)/gy;
  while (part.lastIndex < name.length) {
    const found = part.exec(name);
    if (found === null) throw badName(name, where);
    const [, key, index] = found;
    if (key !== undefined) path.push(key.replace(/\\(.)/g, '$1'));
    else if (index !== undefined) path.push(Number(index));
  }
  const isUsable =
    typeof path[0] === 'string' &&
    path.length <= MAX_DEPTH &&
    path.every((one) => (typeof one === 'number' ? one <= MAX_INDEX : one !== '__proto__'));
  if (!isUsable) throw badName(name, where);
  return path;
}

const badName = (name: string, where: string): FatalError =>
  new FatalError(
    `${where}: ${JSON.stringify(name).slice(0, 100)} is no name of a value: expected a form such as a.b[0].c`,
  );

function setAt(root: Dict, path: readonly (string | number)[], value: unknown): void {
  let at = root as Dict & unknown[];
  path.forEach((key, i) => {
    if (i === path.length - 1) {
      at[key as number] = value;
      return;
    }
    const isList = typeof path[i + 1] === 'number';
    const there = at[key as number];
    if (typeof there !== 'object' || there === null || Array.isArray(there) !== isList)
      at[key as number] = isList ? [] : {};
    at = at[key as number] as never;
  });
}

/** As helm reads the text behind `=`. */
function typed(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? null;
  if (value.startsWith('{') && value.endsWith('}') && !/[":]/.test(value))
    return value === '{}'
      ? []
      : value
          .slice(1, -1)
          .split(',')
          .map((item) => typed(item));
  if (value === 'true' || value === 'false') return value === 'true';
  if (value === 'null') return null;
  if (value === '0' || /^-?[1-9]\d{0,15}$/.test(value)) return Number(value);
  return value;
}

/** Values over values, as helm lays files over each other: dictionaries are merged, everything else is replaced. */
export function layered(below: unknown, above: unknown): unknown {
  if (!isDict(below) || !isDict(above)) return above;
  const result: Dict = { ...below };
  for (const [name, value] of Object.entries(above))
    result[name] = Object.hasOwn(below, name) ? layered(below[name], value) : value;
  return result;
}

export const isDict = (value: unknown): value is Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
