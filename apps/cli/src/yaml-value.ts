import { readYamlJson } from '@baton/dsl';

/** Parses a value from the command line: YAML, so that 3 is a number and [a, b] a list; any other text stays a text. */
export function parseValue(text: string): unknown {
  if (text === '') return '';
  const read = readYamlJson(text);
  return read.ok ? read.value : text;
}
