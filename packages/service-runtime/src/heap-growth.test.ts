import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

test('buffers that are gone at once are cleared away without looking through the whole heap', () => {
  const program = join(__dirname, 'testing-buffers.ts');
  const printed = execFileSync(process.execPath, ['--import', 'tsx', program], { encoding: 'utf8' });
  const { young, whole } = JSON.parse(printed) as { young: number; whole: number };
  expect(young).toBeGreaterThan(10);
  expect(whole).toBeLessThan(young / 3);
}, 30_000);
