/** One read text: its name for diagnostics and, computed on demand, the positions of its lines. */
export class Source {
  readonly name: string | null;
  readonly text: string;
  private lineStarts: number[] | null = null;

  constructor(name: string | null, text: string) {
    this.name = name;
    this.text = text;
  }

  /** Line and column of `offset`, both counted from 1; columns in UTF-16 units. */
  position(offset: number): { line: number; column: number } {
    const starts = (this.lineStarts ??= findLineStarts(this.text));
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - starts[low]! + 1 };
  }
}

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
