import { badRequest } from './api-error';
import { type Dict, dictOf, type KubeObject } from './object';

type Test = (object: KubeObject) => boolean;

/** `a=b,c!=d,e in (f,g),!h`. @throws ApiError 400 */
export function labelSelector(text: string | null): Test {
  const tests = splitOutside(text ?? '').map((part) => labelTest(part.trim()));
  return (object) => tests.every((test) => test(object.metadata.labels ?? {}));
}

function labelTest(part: string): (labels: Record<string, string>) => boolean {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(part);
  if (set !== null) {
    const values = set[3]!.split(',').map((value) => value.trim());
    const isIn = set[2] === 'in';
    return (labels) => values.includes(labels[set[1]!] ?? '\0') === isIn;
  }
  const compared = /^([^=!\s]+)\s*(==|=|!=)\s*(\S*)$/.exec(part);
  if (compared !== null) {
    const [, key, operator, value] = compared;
    return (labels) => (labels[key!] === value) === (operator !== '!=');
  }
  const named = /^(!?)([^=!\s]+)$/.exec(part);
  if (named === null) throw badRequest(`unable to parse requirement: ${part}`);
  return (labels) => Object.hasOwn(labels, named[2]!) === (named[1] === '');
}

/** Commas inside of brackets do not split. */
const splitOutside = (text: string): string[] =>
  text.split(/,(?![^(]*\))/).filter((part) => part.trim() !== '');

/** `metadata.name=a,involvedObject.kind!=b`. */
export function fieldSelector(text: string | null): Test {
  const tests = splitOutside(text ?? '').map((part) => {
    const [, path, operator, value] = /^([^=!]+)(==|=|!=)(.*)$/.exec(part.trim()) ?? [];
    if (path === undefined) throw badRequest(`invalid selector: ${part}`);
    return (object: KubeObject) => (fieldOf(object, path) === value) === (operator !== '!=');
  });
  return (object) => tests.every((test) => test(object));
}

function fieldOf(object: KubeObject, path: string): string {
  let value: unknown = object;
  for (const name of path.split('.')) value = (dictOf(value) as Dict)[name];
  return value === undefined ? '' : String(value);
}
