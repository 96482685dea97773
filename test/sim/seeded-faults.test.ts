import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededFaults } from './seeded-faults';

test.each(seededFaults)('can still be made: $name', ({ also, ...first }) => {
  for (const { file, find } of also ? [first, also] : [first]) {
    const text = readFileSync(join(__dirname, '../..', file), 'utf8');
    expect(text.split(find)).toHaveLength(2);
  }
});
