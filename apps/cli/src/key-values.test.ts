import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageFailure } from './failure';
import { collectValues } from './key-values';

test('pairs, files and objects of inputs stand beside each other; the last one counts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-inputs-'));
  try {
    const file = join(folder, 'inputs.yaml');
    writeFileSync(file, 'port: 80\nzones: [a, b]\n');
    expect(collectValues([file, 'port=8080', '{"query": "a=b", "zones": []}', '{size: 3}'])).toEqual({
      port: 8080,
      zones: [],
      query: 'a=b',
      size: 3,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each([
  ['a file that is not there', 'inputs.yml', 'inputs.yml: there is no such file; expected name=value'],
  ['a broken object', '{"port": ', 'expected name=value'],
  ['a folder', tmpdir(), 'expected name=value'],
])('%s is refused with what is expected', (_name, item, message) => {
  expect(() => collectValues([item])).toThrow(UsageFailure);
  expect(() => collectValues([item])).toThrow(message);
});
