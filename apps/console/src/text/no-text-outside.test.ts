/** Texts that people read stand in the catalogue: no file of the console has one of its own. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const src = join(__dirname, '..');
const READ_ATTRIBUTES = new Set(['aria-label', 'title', 'placeholder', 'alt', 'label']);

/** Words in JSX and in attributes that are read or shown, as `line: text`. */
function textsOf(name: string, source: string): string[] {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const found: string[] = [];
  const say = (node: ts.Node, text: string): void => {
    if (/\p{L}{2}/u.test(text))
      found.push(`${name}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${text.trim()}`);
  };
  const look = (node: ts.Node): void => {
    if (ts.isJsxText(node)) say(node, node.text);
    if (ts.isJsxAttribute(node) && READ_ATTRIBUTES.has(node.name.getText()) && node.initializer) {
      const value = ts.isJsxExpression(node.initializer) ? node.initializer.expression : node.initializer;
      if (value && ts.isStringLiteral(value)) say(node, value.text);
    }
    ts.forEachChild(node, look);
  };
  look(file);
  return found;
}

test('no text stands outside of the catalogue', () => {
  const files = readdirSync(src, { recursive: true }).filter((name): name is string =>
    String(name).endsWith('.tsx'),
  );
  expect(files.length).toBeGreaterThan(20);
  expect(files.flatMap((name) => textsOf(name, readFileSync(join(src, name), 'utf8')))).toEqual([]);
});

test('a text would be found', () => {
  expect(textsOf('a.tsx', '<p>Hello</p>')).toEqual(['a.tsx:1: Hello']);
  expect(textsOf('a.tsx', '<a title="Open it" className="link">{t.x}</a>')).toEqual(['a.tsx:1: Open it']);
});
