/** What a trigger starts, and with which parameters: in the form, and in the format of the API. */
import { t } from '../text/text';
import type { Pair } from '../ui/pair-rows';
import { objectOf, pairFaults, pairsOf } from '../ui/pairs';
import type { TriggerChange, TriggerDetail } from './triggers';

export interface TriggerEntry {
  deploymentId: string;
  workflowId: string;
  /** Parameters of the workflow with JSON pointers into the body of a request. */
  parameters: readonly Pair[];
  /** JSON object; empty: none. */
  fixed: string;
}

export const newEntry = (deploymentId: string): TriggerEntry => ({
  deploymentId,
  workflowId: '',
  parameters: [],
  fixed: '',
});

export const entryOf = (trigger: TriggerDetail): TriggerEntry => ({
  deploymentId: trigger.deployment_id,
  workflowId: trigger.workflow_id,
  parameters: pairsOf(trigger.parameters),
  fixed:
    Object.keys(trigger.fixed_parameters).length === 0
      ? ''
      : JSON.stringify(trigger.fixed_parameters, null, 2),
});

/** RFC 6901, below the root, as the manager reads it. */
const POINTER = /^(\/([^~/]|~[01])*)+$/;

/** Returns the errors, by the name of the field; of rows as `parameters[0]`. */
export function faultsOf({ parameters, fixed }: TriggerEntry): Record<string, string> {
  const texts = t.triggers.faults;
  const read = readObject(fixed);
  const faults: Record<string, string> = read === null ? { fixed_parameters: texts.json } : {};
  const ofNames = pairFaults(parameters, { missing: texts.parameter, twice: texts.twice });
  for (const [at, [name, pointer]] of parameters.entries()) {
    if (name.trim() === '' && pointer.trim() === '') continue;
    const isBoth = Object.hasOwn(read ?? {}, name.trim());
    const fault =
      ofNames[at] ?? (POINTER.test(pointer.trim()) ? (isBoth ? texts.both : null) : texts.pointer);
    if (fault !== null) faults[`parameters[${at}]`] = fault;
  }
  return faults;
}

/** Returns the entry in the format of the API. */
export const bodyOf = (entry: TriggerEntry) =>
  ({
    deployment_id: entry.deploymentId,
    workflow_id: entry.workflowId,
    parameters: objectOf(entry.parameters.map(([name, pointer]) => [name, pointer.trim()])),
    fixed_parameters: readObject(entry.fixed) ?? {},
  }) satisfies TriggerChange;

/** Returns null when the text is no JSON object; an empty text is an empty object. */
function readObject(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return {};
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
