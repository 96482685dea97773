import { FatalError } from '@baton/plugin-sdk';
import { type Dict, fieldAt, isDict, type Json, setKey } from '../json';

/** Which of the three kinds of rules: `auto` tells the first two apart by their form. */
export type RuleFormat = 'auto' | 'v1' | 'v2' | 'v3';

/**
 * Takes parts of an answer into `result`, as the rules say (reference plugins.md 2.7).
 * v1: the form of the answer, with the path of the result in place of each value. v2: `[[path in the answer, path in the result]]`.
 * v3: the name in the result, and the path in the answer.
 * @throws FatalError for rules of another form, and for a part that the answer does not have (v1, v2)
 */
export function translate(answer: Json, rules: Json | undefined, format: RuleFormat, result: Dict): void {
  if (rules === undefined || rules === null) return;
  if (format === 'v3') byName(answer, rules, result);
  else if (format === 'v2' || isPairs(rules)) byPairs(answer, rules, result);
  else byForm(answer, rules, result);
}

function byName(answer: Json, rules: Json, result: Dict): void {
  if (!isDict(rules)) throw wrongRules('v3', '{ name: [path] }');
  for (const [name, path] of Object.entries(rules)) setKey(result, name, fieldAt(answer, pathOf(path)));
}

const isPairs = (rules: Json): boolean =>
  Array.isArray(rules) &&
  Array.isArray(rules[0]) &&
  rules[0].length === 2 &&
  Array.isArray(rules[0][0]) &&
  Array.isArray(rules[0][1]);

function byForm(answer: Json, rules: Json, result: Dict): void {
  if (Array.isArray(rules)) {
    if (rules.length > 0 && rules.every((one) => typeof one !== 'object')) save(result, rules, answer);
    else if (Array.isArray(answer) ? answer.length > 0 : answer !== null)
      rules.forEach((rule, i) => {
        if (typeof rule === 'object' && rule !== null) byForm(partOf(answer, i), rule, result);
      });
  } else if (isDict(rules))
    for (const [key, rule] of Object.entries(rules)) byForm(partOf(answer, key), rule, result);
}

function byPairs(answer: Json, rules: Json, result: Dict): void {
  if (!Array.isArray(rules)) throw wrongRules('v2', '[[path, path]]');
  for (const rule of rules) {
    const [from, to] = Array.isArray(rule) ? rule : [];
    if (!Array.isArray(from) || !Array.isArray(to)) throw wrongRules('v2', '[[path, path]]');
    byPair(answer, from, to, result);
  }
}

/** A list in the path stands for each member of a list of the answer. */
function byPair(answer: Json, from: readonly Json[], to: readonly Json[], result: Dict): void {
  let at = answer;
  for (const [i, key] of from.entries()) {
    if (!Array.isArray(key)) {
      at = partOf(at, key);
      continue;
    }
    if (!Array.isArray(at))
      throw new FatalError(`response_translation: ${shown(from.slice(0, i))} is no list`);
    const rest = [...key.slice(0, 1), ...from.slice(i + 1)];
    at.forEach((member, position) => {
      byPair(member, rest, placeInList(to, position), result);
    });
    return;
  }
  save(result, to, at);
}

/** The place of a member: a list at the end of the path holds the keys below the member. */
function placeInList(to: readonly Json[], position: number): Json[] {
  const last = to.at(-1);
  return Array.isArray(last) ? [...to.slice(0, -1), position, ...last] : [...to, position];
}

/** Stores a value at a path. A number in the path is a position in a list. */
function save(result: Dict, path: readonly Json[], value: Json): void {
  let at: Dict | Json[] = result;
  path.forEach((key, i) => {
    const isLast = i === path.length - 1;
    const next = isLast ? value : (childOf(at, key) ?? (typeof path[i + 1] === 'number' ? [] : {}));
    if (Array.isArray(at)) at[positionOf(key)] = next;
    else setKey(at, String(key), next);
    if (!isLast) at = next as Dict | Json[];
  });
}

const MAX_POSITION = 100_000;

function positionOf(key: Json): number {
  const position = Number(key);
  if (!Number.isInteger(position) || position < 0 || position > MAX_POSITION)
    throw new FatalError(`response_translation: ${shown([key])} is no position of a list`);
  return position;
}

/** A dictionary or list that is there already. Another value in the way is replaced. */
function childOf(at: Dict | Json[], key: Json): Dict | Json[] | undefined {
  const child = Array.isArray(at)
    ? at[positionOf(key)]
    : Object.hasOwn(at, String(key))
      ? at[String(key)]
      : undefined;
  return typeof child === 'object' && child !== null ? child : undefined;
}

function partOf(answer: Json, key: Json): Json {
  const isThere = Array.isArray(answer)
    ? answer[Number(key)] !== undefined
    : isDict(answer) && Object.hasOwn(answer, String(key));
  if (!isThere) throw new FatalError(`response_translation: the answer has no ${shown([key])}`);
  return fieldAt(answer, [key]);
}

const pathOf = (path: Json): readonly Json[] => (Array.isArray(path) ? path : [path]);
const shown = (path: readonly Json[]): string => path.map(String).join('.').slice(0, 200);
const wrongRules = (format: string, expected: string): FatalError =>
  new FatalError(`response_translation: these are no rules of ${format}; expected ${expected}`);
