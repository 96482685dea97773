import type { FilterRule } from '@baton/contracts';
import type { Option } from 'commander';
import { UsageFailure } from '../failure';
import { type Options, repeated } from './define';

type Form = readonly [pattern: RegExp, operator: string];

/** Written forms of rules, as the command line of the original has them; the longest first. */
const LABEL_FORMS: readonly Form[] = [
  [/^(.+?) is not null$/, 'is_not_null'],
  [/^(.+?) is null$/, 'is_null'],
  [/^(.+?) is-not (.+)$/, 'is_not'],
  [/^([^!=]+)!=(.+)$/, 'not_any_of'],
  [/^([^!=]+)=(.+)$/, 'any_of'],
];
const ATTRIBUTE_FORMS: readonly Form[] = [
  [/^(.+?) does-not-contain (.+)$/, 'not_contains'],
  [/^(.+?) contains (.+)$/, 'contains'],
  [/^(.+?) starts-with (.+)$/, 'starts_with'],
  [/^(.+?) ends-with (.+)$/, 'ends_with'],
  [/^(.+?) is not empty$/, 'is_not_empty'],
  [/^([^!=]+)!=(.+)$/, 'not_any_of'],
  [/^([^!=]+)=(.+)$/, 'any_of'],
];

export const ruleOptions = (): Option[] => [
  repeated(
    '--labels-rule <rule>',
    'key=value, key=[a,b], key!=value, key is-not value, key is null, key is not null',
  ),
  repeated(
    '--attrs-rule <rule>',
    'field=value, field!=value, field contains value, does-not-contain, starts-with, ends-with, is not empty',
  ),
];

/** Returns the filter rules (reference/rest-api.md 4.3) that the options say. @throws UsageFailure for a form that does not exist */
export function rulesOf({ labelsRule, attrsRule }: Options): FilterRule[] {
  return [
    ...((labelsRule ?? []) as string[]).map((text) => ruleOf(text, 'label', LABEL_FORMS)),
    ...((attrsRule ?? []) as string[]).map((text) => ruleOf(text, 'attribute', ATTRIBUTE_FORMS)),
  ];
}

function ruleOf(text: string, type: FilterRule['type'], forms: readonly Form[]): FilterRule {
  for (const [pattern, operator] of forms) {
    const found = pattern.exec(text.trim());
    if (found) return { key: found[1]!.trim(), values: valuesOf(found[2]), operator, type } as FilterRule;
  }
  const option = type === 'label' ? '--labels-rule' : '--attrs-rule';
  throw new UsageFailure(`${option} "${text}": expected a rule such as key=value; --help shows the forms`);
}

function valuesOf(text: string | undefined): string[] {
  if (text === undefined) return [];
  const list = /^\[(.*)\]$/.exec(text.trim());
  return list ? list[1]!.split(',').map((one) => one.trim()) : [text.trim()];
}
