import { type Diagnostic, type Diagnostics, diagnostic } from '../diagnostics/diagnostic';
import type { DiagnosticKind } from '../diagnostics/kinds';
import { isNull, isString, type MapNode, type Node } from '../yaml/node';

const PREFIX = 'cloudify_dsl';
export const supportedVersions = ['1_0', '1_1', '1_2', '1_3', '1_4', '1_5'].map((v) => `${PREFIX}_${v}`);

/** `cloudify_dsl_1_5` in the form of the plan. */
export interface PlanVersion {
  raw: string;
  definitions_name: string;
  definitions_version: number[];
}

type Parsed = { ok: true; value: PlanVersion } | { ok: false; error: Diagnostic };

/** The stand-alone version parser (reference 1): it also accepts versions that are well-formed but not supported. */
export function parseVersion(value: unknown): Parsed {
  const bad = (kind: DiagnosticKind, message: string): Parsed => ({
    ok: false,
    error: diagnostic(kind, message, {
      path: 'tosca_definitions_version',
      expected: `${PREFIX}_MAJOR_MINOR`,
    }),
  });
  if (value === null || value === undefined || value === '')
    return bad('version_empty', 'the version is empty');
  if (typeof value !== 'string') return bad('version_not_text', 'the version must be a text');
  if (!value.startsWith(`${PREFIX}_`))
    return bad('version_bad_prefix', `"${value}" does not begin with ${PREFIX}_`);
  const parts = value.slice(PREFIX.length + 1).split('_');
  if (parts.length < 2) return bad('version_bad_prefix', `"${value}" lacks a minor number`);
  const kinds: DiagnosticKind[] = ['version_bad_major', 'version_bad_minor', 'version_bad_micro'];
  const numbers: number[] = [];
  for (let i = 0; i < Math.min(parts.length, 3); i++) {
    const part = parts.length > 3 && i === 2 ? parts.slice(2).join('_') : parts[i]!;
    if (!/^\d{1,9}$/.test(part)) return bad(kinds[i]!, `"${part}" in "${value}" is not a number`);
    numbers.push(Number(part));
  }
  return { ok: true, value: { raw: value, definitions_name: PREFIX, definitions_version: numbers } };
}

/** Returns the version that a file declares; null for none or a wrong one, which is reported. */
export function readVersion(
  root: MapNode | null,
  isMain: boolean,
  diagnostics: Diagnostics,
): PlanVersion | null {
  const node: Node | undefined = root?.get('tosca_definitions_version');
  const path = 'tosca_definitions_version';
  if (node === undefined || isNull(node)) {
    if (isMain)
      diagnostics.report('missing_version', 'tosca_definitions_version is missing', {
        at: node ?? root ?? undefined,
        path,
        expected: `one of ${supportedVersions.join(', ')}`,
      });
    return null;
  }
  if (!isString(node)) {
    diagnostics.report('bad_shape', 'tosca_definitions_version must be a string', {
      at: node,
      path,
      expected: 'string',
    });
    return null;
  }
  if (!supportedVersions.includes(node.value)) {
    diagnostics.report('unsupported_version', `the version "${node.value}" is not supported`, {
      at: node,
      path,
      name: node.value,
      valid: supportedVersions,
    });
    return null;
  }
  const parsed = parseVersion(node.value);
  return parsed.ok ? parsed.value : null;
}
