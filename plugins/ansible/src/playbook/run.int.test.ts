// Playbooks on a real host: ansible-playbook of the machine, over ssh to a real sshd on loopback.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@baton/testkit/eventually';
import { makeRig, type Rig } from '../testing/operation-rig';
import { type Sshd, startSshd } from '../testing/sshd';

jest.setTimeout(300_000);

let sshd: Sshd;
let blueprint: string;
const SECRET = 'correct horse battery';

beforeAll(async () => {
  sshd = await startSshd();
  blueprint = mkdtempSync(join(tmpdir(), 'baton-blueprint-'));
  mkdirSync(join(blueprint, 'site/templates'), { recursive: true });
  file('site/templates/motd.j2', 'Welcome to {{ place }}, says {{ inventory_hostname }}\n');
  file(
    'site/site.yaml',
    `- hosts: web
  gather_facts: false
  tasks:
    - name: Write the greeting
      template: { src: motd.j2, dest: "{{ target }}/motd", mode: "0644" }
      tags: [greet]
    - name: Keep the password
      copy: { content: "{{ password }}", dest: "{{ target }}/password", mode: "0600" }
      no_log: true
      tags: [secret]
    - name: Tell
      debug: { msg: "the password is {{ password }}" }
`,
  );
});
afterAll(async () => {
  await sshd?.stop();
  rmSync(blueprint, { recursive: true, force: true });
});

const file = (name: string, text: string): void => writeFileSync(join(blueprint, name), text);
const at = (name: string): string => join(sshd.place, name);

const host = (more: object = {}) => ({
  ansible_host: '127.0.0.1',
  ansible_port: sshd.port,
  ansible_user: sshd.user,
  ansible_ssh_private_key_file: sshd.key,
  ansible_ssh_common_args: '-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null',
  ...more,
});
const inputs = (more: object = {}) => ({
  playbook_path: 'site/site.yaml',
  sources: { web: { hosts: { one: host() } } },
  run_data: { target: sshd.place, place: 'Leipzig', password: SECRET },
  sensitive_keys: ['password'],
  ...more,
});

const rig = (): Rig => makeRig(blueprint);
/** Folders of runs, also of other suites at the same time. */
const left = (): string[] => [
  ...readdirSync(tmpdir()).filter((name) => name.startsWith('ansible-')),
  ...readdirSync('/tmp').filter((name) => name.startsWith('bcp-')),
];

/** Those of other suites go with their runs. */
const areGone = (names: readonly string[]): Promise<void> =>
  eventually(async () => expect(left().filter((name) => names.includes(name))).toEqual([]), {
    deadlineMs: 120_000,
  });

it('runs a playbook, tells its tasks while they end, and keeps the numbers of each host', async () => {
  const before = left();
  const play = rig();
  const counts = { ok: 3, changed: 2, failed: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
  expect(await play.run('run', inputs())).toEqual({ one: counts });
  expect(play.runtime).toMatchObject({
    result: { one: counts },
    ansible_applied: { files: expect.any(String) },
  });
  expect(readFileSync(at('motd'), 'utf8')).toBe('Welcome to Leipzig, says one\n');
  expect(readFileSync(at('password'), 'utf8')).toBe(SECRET);
  expect(play.lines).toContain('info: TASK [Write the greeting]');
  expect(play.lines).toContainEqual(expect.stringMatching(/^info: changed \[one\]/));
  expect(play.lines).toContain('info: ok [one]: the password is ********');
  expect(JSON.stringify([play.lines, play.runtime])).not.toContain(SECRET);
  expect(JSON.stringify([play.lines, play.runtime])).not.toContain('PRIVATE KEY');
  await areGone(left().filter((name) => !before.includes(name)));
  expect(existsSync(at('motd'))).toBe(true);
});

it('finds no drift after a run, and afterwards what somebody changed', async () => {
  const play = rig();
  await play.run('run', inputs());
  expect(await play.run('check_drift', inputs())).toBeNull();
  writeFileSync(at('motd'), 'Welcome to Chemnitz, says one\n');
  const found = await play.run('check_drift', inputs());
  expect(found).toEqual([
    {
      path: 'one: Write the greeting',
      stored: 'Welcome to Leipzig, says one\n',
      present: 'Welcome to Chemnitz, says one\n',
    },
  ]);
  expect(readFileSync(at('motd'), 'utf8')).toContain('Chemnitz');
  const data = { target: sshd.place, place: 'Halle', password: SECRET };
  const changed = (await play.run('check_drift', inputs({ run_data: data }))) as { path: string }[];
  expect(changed.map(({ path }) => path)).toEqual(['run_data', 'one: Write the greeting']);
});

it('believes only the hosts of a file known_hosts beside the playbook, and uses modules of module_path', async () => {
  mkdirSync(join(blueprint, 'strict/modules'), { recursive: true });
  file('strict/modules/hello.py', MODULE);
  file('strict/play.yaml', '- hosts: all\n  gather_facts: false\n  tasks: [{ hello: {} }]\n');
  file('strict/known_hosts', sshd.knownHost);
  const sources = {
    all: { hosts: { one: host({ ansible_ssh_common_args: '-o StrictHostKeyChecking=no' }) } },
  };
  const strict = {
    playbook_path: 'strict/play.yaml',
    module_path: 'strict/modules',
    sources,
    number_of_attempts: 1,
  };
  const play = rig();
  await play.run('run', strict);
  expect(play.lines).toContain('info: ok [one]: hello from a module');
  file('strict/known_hosts', sshd.knownHost.replace(/AAAA\S+/, OTHER_KEY));
  await expect(rig().run('run', strict)).rejects.toThrow(
    /unreachable \[one\] in hello: .*HOST IDENTIFICATION HAS CHANGED/s,
  );
});

const MODULE = `from ansible.module_utils.basic import AnsibleModule
AnsibleModule(argument_spec={}).exit_json(msg="hello from a module")
`;
/** A key of somebody else. */
const OTHER_KEY = 'AAAAC3NzaC1lZDI1NTE5AAAAIJ7qk0DYgkJNVUC2mcJgEKsCIrCBS3hhdnlBAYIPOUoq';
