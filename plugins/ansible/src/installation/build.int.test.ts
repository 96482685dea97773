// Installations on this machine: venvs, collections and roles from files. What needs a network is tested by its refusal.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeRig } from '../testing/operation-rig';

jest.setTimeout(300_000);

let blueprint: string;
const HERE = { all: { hosts: { here: { ansible_connection: 'local' } } } };
const installations = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('installation-'));
let before: string[];
const file = (name: string, text: string): void => writeFileSync(join(blueprint, name), text);

beforeAll(() => {
  before = installations();
  blueprint = mkdtempSync(join(tmpdir(), 'baton-blueprint-'));
  // No index of packages answers: as on a machine without a network.
  process.env.PIP_INDEX_URL = 'http://127.0.0.1:1/simple';
});
afterAll(() => {
  delete process.env.PIP_INDEX_URL;
  const made = installations().filter((name) => !before.includes(name));
  for (const name of made) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  rmSync(blueprint, { recursive: true, force: true });
});

const properties = (more: object) => ({ use_existing_resource: true, ...more });

it('installs roles from archives of the blueprint, once, and playbooks find them', async () => {
  mkdirSync(join(blueprint, 'greet/tasks'), { recursive: true });
  mkdirSync(join(blueprint, 'greet/meta'));
  file('greet/tasks/main.yaml', '- debug: { msg: greetings of the role }\n');
  file(
    'greet/meta/main.yml',
    'galaxy_info: { author: a, description: d, license: MIT, min_ansible_version: "2.9" }\n',
  );
  execFileSync('tar', ['czf', 'greet.tar.gz', 'greet'], { cwd: blueprint });
  file('play.yaml', '- hosts: all\n  gather_facts: false\n  roles: [greet]\n');
  const play = makeRig(blueprint);
  const inputs = { playbook_path: 'play.yaml', sources: HERE, roles: ['greet.tar.gz'] };
  await play.run('run', inputs);
  expect(play.lines).toContain('info: ok [here]: greetings of the role');
  const made = installations();
  await play.run('run', inputs);
  expect(installations()).toEqual(made);
});

it('makes a venv beside Ansible of the machine, with packages from files', async () => {
  execFileSync('python3', ['-c', WHEEL], { cwd: blueprint });
  file(
    'play.yaml',
    '- hosts: all\n  gather_facts: false\n  tasks: [{ debug: { msg: "{{ 1 | from_package }}" } }]\n',
  );
  mkdirSync(join(blueprint, 'filter_plugins'), { recursive: true });
  file('filter_plugins/p.py', FILTER);
  const play = makeRig(blueprint);
  await play.run('run', {
    playbook_path: 'play.yaml',
    sources: HERE,
    extra_packages: ['words-1.0-py3-none-any.whl'],
  });
  expect(play.lines).toContain('info: ok [here]: a word of the package');
});

it('says that there is no network, and what to do', async () => {
  const failure = makeRig(blueprint, { properties: { installation_source: 'ansible==4.10.0' } }).run(
    'install',
  );
  await expect(failure).rejects.toMatchObject({
    name: 'FatalError',
    message: expect.stringMatching(/pip could not install ansible==4\.10\.0: .*set use_existing_resource/s),
  });
  const roles = makeRig(blueprint, { properties: properties({ roles: ['/none/role.tar.gz'] }) }).run(
    'install',
  );
  await expect(roles).rejects.toThrow(/ansible-galaxy could not install \/none\/role\.tar\.gz/);
});

it('asks no server where the operator refuses downloads; files of the blueprint are installed', async () => {
  process.env.BATON_DOWNLOADS = 'refused';
  try {
    const installed = (more: object) => makeRig(blueprint, { properties: more }).run('install');
    await expect(installed({ installation_source: 'ansible==4.10.0' })).rejects.toThrow(
      'ansible==4.10.0 is not downloaded',
    );
    await expect(installed(properties({ galaxy_collections: ['acme.tools'] }))).rejects.toThrow(
      'acme.tools is not downloaded',
    );
    await installed(properties({ roles: ['greet.tar.gz'] }));
  } finally {
    delete process.env.BATON_DOWNLOADS;
  }
});

it('keeps what an installation consists of, and adds to it', async () => {
  const engine = makeRig(blueprint, { properties: properties({}) });
  await engine.run('install');
  await engine.run('update_venv', { roles: ['greet.tar.gz'] });
  expect(engine.runtime).toMatchObject({
    ansible_installation: { source: '', packages: [], collections: [], roles: ['greet.tar.gz'] },
    installed_roles: ['greet.tar.gz'],
  });
});

/** Makes a wheel with a module `words`. */
const WHEEL = `import zipfile
with zipfile.ZipFile("words-1.0-py3-none-any.whl", "w") as out:
    out.writestr("words.py", "WORD = 'a word of the package'")
    out.writestr("words-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: words\\nVersion: 1.0\\n")
    out.writestr("words-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    out.writestr("words-1.0.dist-info/RECORD", "")
`;
const FILTER = `import words
class FilterModule:
    def filters(self):
        return {"from_package": lambda _: words.WORD}
`;
