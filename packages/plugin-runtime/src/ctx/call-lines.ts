/** One call of ctx in a text of several. */
export interface CallLine {
  /** Line where the call begins, from 1. */
  line: number;
  words: string[];
}

/** Blanks, the end of a line, a backslash that joins two lines, or a part of a word. A quote that does not end matches nothing. */
const TOKEN =
  /(?<blank>[ \t\r]+)|(?<end>\n)|(?<joint>\\\n)|'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\[\s\S])*)"|\\(?<escaped>[\s\S])|(?<plain>[^\s'"\\]+)/gy;

/**
 * Splits a text into calls: one in each line, in words as a shell reads them ('...', "...", a backslash before a
 * character). Nothing is expanded. Empty lines and lines that begin with `#` do not count. A quoted word may go over
 * several lines.
 * @throws Error for a quote that does not end, with its line
 */
export function splitCalls(text: string): CallLine[] {
  const calls: CallLine[] = [];
  let words: string[] = [];
  let word: string | null = null;
  let line = 1;
  let begin = 1;
  const endWord = (): void => {
    if (word !== null) words.push(word);
    word = null;
  };
  const endCall = (): void => {
    endWord();
    if (words.length > 0) calls.push({ line: begin, words });
    words = [];
  };
  for (let at = 0; at < text.length; ) {
    if (words.length === 0 && word === null) {
      begin = line;
      if (text[at] === '#') at = lineEnd(text, at);
      if (at === text.length) break;
    }
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(text)?.groups;
    if (!groups) throw new Error(`line ${line}: a quote does not end`);
    const part = partOf(groups);
    if (groups.end !== undefined) endCall();
    else if (part !== null) word = (word ?? '') + part;
    else if (groups.joint === undefined) endWord();
    line += text.slice(at, TOKEN.lastIndex).split('\n').length - 1;
    at = TOKEN.lastIndex;
  }
  endCall();
  return calls;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

/** The part of a word; null: the token stands between words. */
function partOf({ single, double, escaped, plain }: Record<string, string | undefined>): string | null {
  if (double !== undefined) return double.replace(/\\(["\\$`\n])/g, (_, kept) => (kept === '\n' ? '' : kept));
  return single ?? escaped ?? plain ?? null;
}
