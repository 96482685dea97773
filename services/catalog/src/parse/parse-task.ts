/** One round of parsing, in the thread: pure except for the built-in files of the parser. */
import { type ArchiveTask, parseArchive } from '@baton/dsl';
import { badParameter, foldJson, isAppError, type JsonObject } from '@baton/kernel';
import { MAX_PLAN_CHARS, PLAIN_PLAN_CHARS } from '../domain/plan-limits';
import { planLabels, planUses } from '../domain/plan-uses';
import type { BlueprintDiagnostic } from '../domain/upload-failure';
import type { ParseReply } from './protocol';

function fault(message: string, path: string): BlueprintDiagnostic {
  return {
    severity: 'error',
    kind: 'bad_label',
    code: null,
    className: '',
    message,
    file: null,
    line: null,
    column: null,
    path,
  };
}

/** Returns the plan as text. @throws AppError bad_parameters_error for a plan that is longer than a JavaScript string can be. */
function planText(plan: JsonObject): { json: string } {
  const { text, size } = foldJson(plan, PLAIN_PLAN_CHARS);
  if (size > MAX_PLAN_CHARS)
    throw badParameter('node_templates', `The plan of the blueprint has ${size} characters`, {
      expected: `at most ${MAX_PLAN_CHARS}`,
    });
  return { json: text };
}

/** Parses `task`. Never throws because of the contents of the texts. */
export async function parseTask(task: ArchiveTask): Promise<ParseReply> {
  const { needs, plan, diagnostics } = await parseArchive(task);
  const reply: ParseReply = { needs, plan: null, diagnostics };
  if (plan === null || needs.length > 0) return reply;
  const json = plan as unknown as JsonObject;
  try {
    reply.plan = {
      ...planText(json),
      requirements: json.requirements ?? {},
      description: typeof json.description === 'string' ? json.description : null,
      labels: planLabels(json),
      uses: planUses(json),
    };
  } catch (error) {
    if (!isAppError(error)) throw error;
    const { field } = error.details;
    reply.diagnostics.unshift(fault(error.message, field === 'node_templates' ? field : 'blueprint_labels'));
  }
  return reply;
}
