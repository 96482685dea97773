import { readYamlJson } from '@baton/dsl';

/** A value written on the command line: YAML, so that 3 is a number and [a, b] a list; what is no YAML is a text. */
export function parseValue(text: string): unknown {
  if (text === '') return '';
  const read = readYamlJson(text);
  return read.ok ? read.value : text;
}
