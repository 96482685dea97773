import { splitCalls } from './call-lines';

describe('a text of several calls', () => {
  it('has a call in each line, in words as a shell reads them', () => {
    expect(
      splitCalls(
        '# first\nlogger info "two words"\n\n  instance runtime-properties a\'b c\'d @{\\"x\\":1} # no comment here\r\nnode  "a \\"q\\" \\\\ \\n $x" \'\'',
      ),
    ).toEqual([
      { line: 2, words: ['logger', 'info', 'two words'] },
      {
        line: 4,
        words: ['instance', 'runtime-properties', 'ab cd', '@{"x":1}', '#', 'no', 'comment', 'here'],
      },
      { line: 5, words: ['node', 'a "q" \\ \\n $x', ''] },
    ]);
  });

  it('may have words over several lines, and counts on behind them', () => {
    expect(splitCalls("logger info 'one\ntwo'\nlogger \\\n info x\nlast")).toEqual([
      { line: 1, words: ['logger', 'info', 'one\ntwo'] },
      { line: 3, words: ['logger', 'info', 'x'] },
      { line: 5, words: ['last'] },
    ]);
    expect(splitCalls('')).toEqual([]);
    expect(splitCalls('# only this')).toEqual([]);
  });

  it.each([
    ["'open", 1],
    ['a\n"open', 2],
    ['x\\', 1],
  ])('names the line of what does not end: %j', (text, line) => {
    expect(() => splitCalls(text)).toThrow(`line ${line}: a quote does not end`);
  });

  it('takes a time that grows with its length only', () => {
    expect(splitCalls(`${'a "b" '.repeat(100_000)}\n`)[0]?.words).toHaveLength(200_000);
    expect(() => splitCalls(`${'"\\"'.repeat(100_000)}`)).not.toThrow(RangeError);
  });
});
