/** The definitions versions with their own built-in types file. */
export type BuiltinVersion = '1_3' | '1_4' | '1_5';

/** Keeps the lines of the version between marks: `# only 1_4 1_5` up to `# end`. */
export function forVersion(text: string, version: BuiltinVersion): string {
  const lines: string[] = [];
  let isKept = true;
  for (const line of text.split('\n')) {
    const mark = /^\s*# (only|end)\b(.*)$/.exec(line);
    if (!mark) {
      if (isKept) lines.push(line);
    } else isKept = mark[1] === 'end' || mark[2]!.includes(version);
  }
  return lines.join('\n');
}
