import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { statePath } from './state-path';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-state-path-'));
  mkdirSync(join(folder, '.terraform'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const chosen = (backend: object | null): Promise<string | null> => {
  writeFileSync(join(folder, '.terraform/terraform.tfstate'), JSON.stringify({ version: 3, backend }));
  return statePath(folder);
};

it('is in the folder of the module, or at another backend', async () => {
  expect(await statePath(folder)).toBe(join(folder, 'terraform.tfstate'));
  expect(await chosen({ type: 'local', config: { path: null } })).toBe(join(folder, 'terraform.tfstate'));
  mkdirSync(join(folder, 'states'));
  expect(await chosen({ type: 'local', config: { path: 'states/a' } })).toBe(join(folder, 'states/a'));
  expect(await chosen({ type: 's3', config: { bucket: 'b' } })).toBeNull();
});

test.each(['/tmp/x.tfstate', '../x.tfstate', 'up/x.tfstate', 'nowhere/x.tfstate'])(
  'is refused at %s: no later operation would find it',
  async (path) => {
    symlinkSync(tmpdir(), join(folder, 'up'));
    await expect(chosen({ type: 'local', config: { path } })).rejects.toThrow('has a path outside of it');
  },
);
