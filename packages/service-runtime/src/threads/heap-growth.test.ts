import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

test('buffers that are gone at once are cleared away without looking through the whole heap', () => {
  const program = join(__dirname, 'testing-buffers.ts');
  const printed = execFileSync(process.execPath, ['--import', 'tsx', program], { encoding: 'utf8' });
  const { young, whole } = JSON.parse(printed) as { young: number; whole: number };
  expect(young).toBeGreaterThan(10);
  // A fifth of them on a quiet machine, a third on a busy one; nearly all without the allowed growth.
  expect(whole).toBeLessThan(young / 2);
}, 30_000);
