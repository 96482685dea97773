import { nextIndent } from './next-indent';

test.each([
  ['node_templates:', 2],
  ['  web:  # the server', 4],
  ['    type: a.B', 4],
  ['      - type: a.B', 8],
  ['      - type:', 10],
  ['', 0],
])('after %j a line begins at %d', (line, indent) => expect(nextIndent(line)).toBe(indent));
