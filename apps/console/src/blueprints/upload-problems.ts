/** Problems of an upload, read from the lines of `error_traceback` (services/catalog, upload-failure.ts). */

export interface UploadProblem {
  severity: 'error' | 'warning';
  message: string;
  /** Path in the archive; null when the problem belongs to no file. */
  file: string | null;
  /** Counted from 1. */
  line: number | null;
  column: number | null;
  /** The valid name that was probably meant. */
  nearest: string | null;
}

const PLACED = /^(.+?):(\d{1,9}):(\d{1,9}): (error|warning): (.*)$/;
const PLACELESS = /^(\S[^:]{0,1023}): (error|warning): (.*)$/;
const NEAREST = / - did you mean "(.*)"\?$/;

/**
 * Parses the lines. Returns an empty list when the text has another format: then the error text says everything. A line that
 * begins no problem belongs to the problem before it.
 */
export function uploadProblems(traceback: string | null): UploadProblem[] {
  const problems: UploadProblem[] = [];
  for (const text of (traceback ?? '').split('\n')) {
    const found = problemOf(text);
    const before = problems.at(-1);
    if (found) problems.push(found);
    else if (before) before.message += `\n${text}`;
  }
  return problems.map(withNearest);
}

function problemOf(text: string): UploadProblem | null {
  const placed = PLACED.exec(text);
  if (placed)
    return {
      severity: placed[4] as UploadProblem['severity'],
      message: placed[5]!,
      file: placed[1]!,
      line: Number(placed[2]),
      column: Number(placed[3]),
      nearest: null,
    };
  const placeless = PLACELESS.exec(text);
  if (!placeless) return null;
  return {
    severity: placeless[2] as UploadProblem['severity'],
    message: placeless[3]!,
    // The word `blueprint` stands for a problem without a file.
    file: placeless[1] === 'blueprint' ? null : placeless[1]!,
    line: null,
    column: null,
    nearest: null,
  };
}

function withNearest(problem: UploadProblem): UploadProblem {
  const nearest = NEAREST.exec(problem.message)?.[1];
  if (nearest === undefined) return problem;
  return { ...problem, nearest, message: problem.message.replace(NEAREST, '') };
}
