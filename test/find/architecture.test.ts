// The walk through the most common request must stay short enough to read in an hour.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

test('the walk of POST /executions names at most 35 files', () => {
  const page = readFileSync(join(__dirname, '../../docs/ARCHITECTURE.md'), 'utf8');
  const walk = page.split('## ').find((part) => part.startsWith('Walk: POST /executions'))!;
  const files = new Set([...walk.matchAll(/`([\w.-]+\/[\w./-]+\.ts)`/g)].map(([, file]) => file));
  expect(files.size).toBeGreaterThan(20);
  expect(files.size).toBeLessThanOrEqual(35);
});
