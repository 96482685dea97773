import { aboutOf } from '../../testing/agent-hosts';
import { readAbout, requireAbout } from './about';

test('keeps what it knows, and nothing else', () => {
  const read = readAbout(JSON.stringify({ ...aboutOf(), more: 'x' }));
  expect(read?.about).toEqual(aboutOf());
  expect(JSON.parse(read!.text)).toEqual(aboutOf());
});

test('characters that the database cannot store are replaced', () => {
  const read = readAbout(JSON.stringify(aboutOf({ hostname: 'a\0b\ud800' })));
  expect(read!.text).not.toMatch(/\\u0000|\\ud800/);
});

test.each([
  ['nothing', ''],
  ['no JSON', '{'],
  ['another form', '[]'],
  ['a number without end', JSON.stringify(aboutOf()).replace('"slots":5', '"slots":1e999')],
  ['a long text', JSON.stringify(aboutOf({ hostname: 'x'.repeat(300) }))],
  ['a longer text than any', JSON.stringify({ ...aboutOf(), more: 'x'.repeat(20_000) })],
])('%s is refused', (_name, json) => {
  expect(readAbout(json)).toBeNull();
  expect(() => requireAbout(json)).toThrow('What the agent says of itself cannot be read');
});
