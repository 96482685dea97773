// The stand-in is held equal to the real terraform, in all that the plugin reads of it.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { differencesOf, PLAN } from '../state/drift';
import { readState, resourcesOf } from '../state/read-state';
import { real, standIn } from './binaries';
import { sampleModule } from './sample-module';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'baton-stand-in-'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Runs a whole life of a module, and writes down what a plugin would read. */
function lifeOf(binary: string, folder: string, variables: object[]): unknown[] {
  mkdirSync(folder, { recursive: true });
  const seen: unknown[] = [];
  const run = (...args: string[]) => {
    const { status, stdout } = spawnSync(binary, args, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, TF_CLI_CONFIG_FILE: '/dev/null', CHECKPOINT_DISABLE: '1' },
    });
    seen.push([args[0], status]);
    return stdout;
  };
  const plan = (name: string, ...more: string[]) => {
    run('plan', '-no-color', '-input=false', '-detailed-exitcode', `-out=${name}`, ...more);
    const read = PLAN.parse(JSON.parse(run('show', '-no-color', '-json', name)));
    seen.push(
      differencesOf(read),
      read.resource_changes.map(({ address, change: { actions } }) => [address, actions]),
    );
  };
  let serial = 0;
  const state = () => {
    const read = readState(run('state', 'pull'));
    seen.push((read?.serial ?? 0) - serial > 0, read?.outputs ?? null, resourcesOf(read));
    serial = read?.serial ?? 0;
  };
  const version = JSON.parse(run('version', '-json'));
  seen.push(Object.keys(version).sort());
  run('init', '-no-color', '-input=false');
  state();
  for (const [i, values] of variables.entries()) {
    writeFileSync(join(folder, 'v.tfvars.json'), JSON.stringify(values));
    plan(`p${i}`, '-var-file=v.tfvars.json');
    run('apply', '-no-color', '-input=false', `p${i}`);
    state();
    run('apply', '-no-color', '-input=false', `p${i}`);
    plan(`q${i}`, '-var-file=v.tfvars.json');
    plan(`r${i}`, '-refresh-only', '-var-file=v.tfvars.json');
  }
  run('destroy', '-auto-approve', '-no-color', '-input=false', '-var-file=v.tfvars.json');
  state();
  return JSON.parse(JSON.stringify(seen).replace(UUID, 'ID').replaceAll(folder, 'FOLDER'));
}

if (real === null)
  test('this machine has no terraform to compare with', () => expect(standIn).toMatch(/stand-in/));
else {
  it('lives as the real one with a module in JSON', () => {
    const lives = [real!, standIn].map((binary, i) => {
      const folder = join(place, String(i));
      mkdirSync(folder);
      writeFileSync(join(folder, 'main.tf.json'), JSON.stringify(sampleModule));
      const path = join(folder, 'page');
      return lifeOf(binary, folder, [{ path }, { path, who: 'you' }]);
    });
    expect(lives[1]).toEqual(lives[0]);
  });

  it('lives as the real one with the module of the example', () => {
    const example = join(__dirname, '../../../../examples/terraform-stack/stack');
    const lives = [real!, standIn].map((binary, i) => {
      const folder = join(place, String(i));
      cpSync(example, folder, { recursive: true });
      const secret = { admin_password: 'secret' };
      return lifeOf(binary, folder, [
        secret,
        { ...secret, release: '2' },
        { ...secret, environment: 'live' },
      ]);
    });
    expect(lives[1]).toEqual(lives[0]);
    expect(JSON.stringify(lives[0])).toContain('live-server');
  });

  it('writes the file of the state with the same keys', () => {
    const keys = [real!, standIn].map((binary, i) => {
      const folder = join(place, String(i));
      mkdirSync(folder);
      writeFileSync(
        join(folder, 'main.tf.json'),
        JSON.stringify({ resource: { terraform_data: { a: { input: 1 } } } }),
      );
      lifeOf(binary, folder, [{}]);
      const { resources: _, ...state } = JSON.parse(
        readFileSync(join(folder, 'terraform.tfstate.backup'), { encoding: 'utf8', flag: 'a+' }) ||
          readFileSync(join(folder, 'terraform.tfstate'), 'utf8'),
      );
      return Object.keys(state).sort();
    });
    expect(keys[1]).toEqual(keys[0]);
  });
}
