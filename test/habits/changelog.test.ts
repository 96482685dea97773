// The changelog must have the format of Keep a Changelog, and a section for the current version of the product.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '..', '..');
const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const headings = text.split('\n').filter((line) => line.startsWith('##'));

test('the version of the product has a section with a date', () => {
  expect(headings[0]).toBe('## [Unreleased]');
  const dated = headings.filter((line) => /^## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/.test(line));
  expect(dated[0]).toContain(`## [${version}] - `);
});

test('changes stand under the headings of the form', () => {
  const kinds = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
  const others = headings.filter((line) => line.startsWith('### ') && !kinds.includes(line.slice(4)));
  expect(others).toEqual([]);
});
