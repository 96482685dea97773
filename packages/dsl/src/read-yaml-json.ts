import { err, type Json, ok, type Result } from '@baton/kernel';
import { toJson } from './yaml/node';
import { readYaml } from './yaml/reader';

/** The fault of a text that is no blueprint (plugin.yaml, license, ...). Lines count from 1. */
export interface YamlFault {
  message: string;
  line: number;
  column: number;
}

/** Reads the value of a YAML 1.1 text within the limits of the parser: no code, no alias bombs, limited nesting. */
export function readYamlJson(text: string): Result<Json, YamlFault> {
  const { root, error, source } = readYaml(null, text);
  if (error) {
    const { line, column } = source.position(error.offset);
    return err({ message: error.message, line, column });
  }
  return ok(root === null ? null : toJson(root));
}
