// What goes wrong, what somebody could try, and what is left behind: with the real ansible-playbook, and without a host.
import { execFileSync } from 'node:child_process';
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
import { eventually } from '@baton/testkit';
import { makeRig } from '../testing/operation-rig';
import { type Sshd, startSshd } from '../testing/sshd';

jest.setTimeout(300_000);

let blueprint: string;
let place: string;
let sshd: Sshd;
const file = (name: string, text: string, mode = 0o644): void =>
  writeFileSync(join(blueprint, name), text, { mode });
const rig = () => makeRig(blueprint);
/** A play on this machine itself: no connection is made. */
const local = (tasks: string): string =>
  `- hosts: all\n  connection: local\n  gather_facts: false\n  tasks:\n${tasks}`;
const HERE = { all: { hosts: { here: { ansible_python_interpreter: '/usr/bin/python3' } } } };
const left = (): string[] =>
  [tmpdir(), '/tmp'].flatMap((folder) =>
    readdirSync(folder).filter((name) => /^(ansible|archive|bcp)-/.test(name)),
  );

beforeAll(async () => {
  sshd = await startSshd();
  blueprint = mkdtempSync(join(tmpdir(), 'baton-blueprint-'));
  place = mkdtempSync(join(tmpdir(), 'baton-effects-'));
  mkdirSync(join(blueprint, 'site'));
});
afterAll(async () => {
  await sshd?.stop();
  for (const folder of [blueprint, place]) rmSync(folder, { recursive: true, force: true });
});

it('tries again when a task fails, ends after the last attempt, and keeps the numbers', async () => {
  file('site/fail.yaml', local(`    - name: Break\n      command: "false"\n`));
  const play = rig();
  const inputs = { playbook_path: 'site/fail.yaml', sources: HERE, number_of_attempts: 2, log_stdout: false };
  await expect(play.run('run', inputs)).rejects.toMatchObject({
    name: 'OperationRetry',
    message: expect.stringMatching(/ended with 2: failed \[here\] in Break: .*attempt 1 of 2/),
  });
  expect(play.runtime.result).toMatchObject({ here: { failed: 1 } });
  await expect(play.run('run', inputs, { retryNumber: 1 })).rejects.toMatchObject({ name: 'FatalError' });
  expect(play.lines).toContainEqual(expect.stringMatching(/^error: failed \[here\]/));
  expect(play.lines).not.toContain('info: TASK [Break]');
});

it('counts hosts, too, when the blueprint wants another callback for its output', async () => {
  file('site/tell.yaml', local('    - debug: { msg: hello }\n'));
  const play = rig();
  const env = { ANSIBLE_STDOUT_CALLBACK: 'minimal' };
  await play.run('run', { playbook_path: 'site/tell.yaml', sources: HERE, ansible_env_vars: env });
  expect(play.runtime.result).toMatchObject({ here: { ok: 1 } });
  expect(play.lines).toContainEqual(expect.stringMatching(/^debug: .*here \| SUCCESS/));
  expect(play.lines).toContain('info: ok [here]: hello');
});

it('tells which host cannot be reached', async () => {
  file('site/ping.yaml', '- hosts: all\n  gather_facts: false\n  tasks: [{ ping: {} }]\n');
  const sources = { all: { hosts: { gone: { ansible_host: '127.0.0.1', ansible_port: 1 } } } };
  const inputs = { playbook_path: 'site/ping.yaml', sources, number_of_attempts: 1 };
  await expect(rig().run('run', inputs)).rejects.toThrow(/ended with 4: unreachable \[gone\]/);
  await expect(rig().run('check_status', inputs)).rejects.toThrow(/unreachable \[gone\]/);
});

it('is ended by a cancel together with its connections', async () => {
  file('site/wait.yaml', '- hosts: all\n  gather_facts: false\n  tasks: [{ name: Wait, raw: sleep 30 }]\n');
  const host = {
    ansible_host: '127.0.0.1',
    ansible_port: sshd.port,
    ansible_user: sshd.user,
    ansible_ssh_private_key_file: sshd.key,
    ansible_ssh_common_args: '-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null',
  };
  const before = left();
  const stop = new AbortController();
  const running = rig().run(
    'run',
    { playbook_path: 'site/wait.yaml', sources: { all: { hosts: { one: host } } } },
    { signal: stop.signal },
  );
  await eventually(() => expect(sshd.sessions()).toBe(1), { deadlineMs: 60_000 });
  stop.abort();
  await expect(running).rejects.toThrow(/the operation is stopped/);
  await eventually(() => expect(sshd.sessions()).toBe(0), { deadlineMs: 30_000 });
  expect(left()).toEqual(before);
});

it('does not fill the log with the output of a program without end', async () => {
  const program = join(blueprint, 'ansible-playbook');
  writeFileSync(program, '#!/bin/sh\nyes "a line without end" | head -n 200000\nexit 1\n', { mode: 0o755 });
  file('site/ping.yaml', '- hosts: all\n');
  const play = rig();
  const inputs = {
    playbook_path: 'site/ping.yaml',
    sources: 'here,',
    ansible_playbook_executable_path: program,
  };
  await expect(play.run('run', inputs)).rejects.toThrow(/ended with 1: a line without end/);
  expect(play.lines.length).toBeLessThan(5_010);
  expect(play.lines.at(-1)).toContain('nothing more is shown');
});

it('hands secrets over in files for their owner alone, and never in arguments', async () => {
  const program = join(blueprint, 'ansible-spy');
  const spy = `#!/bin/sh
{ printf '%s\\n' "$@"; echo "instance $CTX_NODE_INSTANCE_ID of $CTX_DEPLOYMENT_ID"; cat "$KRB5_CONFIG"
  for part in "$@"; do case $part in --inventory=*|--extra-vars=*) file=\${part#*=}; stat -c %a "\${file#@}"; cat "\${file#@}";; esac; done
  stat -c %a "$(dirname "$KRB5_CONFIG")"; } > ${place}/spied
`;
  writeFileSync(program, spy, { mode: 0o755 });
  file('site/ping.yaml', '- hosts: all\n');
  await rig().run('run', {
    playbook_path: 'site/ping.yaml',
    ansible_playbook_executable_path: program,
    sources: { all: { hosts: { one: { ansible_password: 'word-of-the-host' } } } },
    run_data: { token: 'word-of-the-site' },
    kerberos_config: '[libdefaults]\ndefault_realm = EXAMPLE.ORG\n',
  });
  const [args, ...files] = readFileSync(join(place, 'spied'), 'utf8').split('instance play_abc123 of dep\n');
  expect(args).not.toContain('word-of');
  expect(files.join('')).toBe(`[libdefaults]
default_realm = EXAMPLE.ORG
600
{"all":{"hosts":{"one":{"ansible_password":"word-of-the-host"}}}}600
{"token":"word-of-the-site"}700
`);
});

it.each([
  [{ playbook_path: '../outside.yaml' }, 'leads out of the blueprint'],
  [{ playbook_path: '/etc/passwd' }, 'leads out of the blueprint'],
  [{ playbook_path: 'site.yaml', playbook_source_path: '../..' }, 'leads out of the blueprint'],
  [{ playbook_path: 'site/ping.yaml', additional_playbook_files: ['../x'] }, 'leads out of the blueprint'],
  [{ playbook_path: 'site/none.yaml' }, 'there is no file site/none.yaml in the blueprint'],
  [{}, 'playbook_path: there is none'],
  [
    { playbook_path: 'site/ping.yaml', ansible_env_vars: { 'A B': 'x' } },
    'ansible_env_vars: "A B" is no name',
  ],
  [{ playbook_path: 'site/ping.yaml', extra_packages: ['--index-url=http://x'] }, 'is no name of a package'],
  [
    { playbook_path: 'site/ping.yaml', ansible_playbook_executable_path: '/none/ansible-playbook' },
    'operations find no program /none/ansible-playbook',
  ],
])('refuses %j', async (inputs, text) => {
  file('site/ping.yaml', '- hosts: all\n');
  await expect(rig().run('run', { sources: 'here,', ...inputs })).rejects.toMatchObject({
    name: 'FatalError',
    message: expect.stringContaining(text),
  });
});

const python = (code: string): void => void execFileSync('python3', ['-c', code], { cwd: blueprint });

it('runs a playbook of an archive, and takes nothing out of an archive that leads out', async () => {
  file('play.yaml', local(`    - copy: { content: "{{ word }}", dest: "${place}/word" }\n`));
  python(`import tarfile, zipfile, io
with tarfile.open("play.tar.gz", "w:gz") as out:
    out.add("play.yaml", "inner/play.yaml")
    link = tarfile.TarInfo("inner/link"); link.type = tarfile.SYMTYPE; link.linkname = "/etc/passwd"; out.addfile(link)
with zipfile.ZipFile("evil.zip", "w") as out:
    out.writestr("play.yaml", "- hosts: all"); out.writestr("../../../${place}/evil", "x")
with zipfile.ZipFile("bomb.zip", "w", zipfile.ZIP_DEFLATED) as out:
    out.writestr("play.yaml", "- hosts: all"); out.writestr("zeros", b"0" * (300 << 20))
`);
  const inputs = { sources: HERE, run_data: { word: 'unpacked' }, playbook_path: 'inner/play.yaml' };
  await rig().run('run', { ...inputs, playbook_source_path: 'play.tar.gz' });
  expect(readFileSync(join(place, 'word'), 'utf8')).toBe('unpacked');
  const of = (archive: string) =>
    rig().run('run', { ...inputs, playbook_path: 'play.yaml', playbook_source_path: archive });
  await expect(of('evil.zip')).rejects.toThrow('an entry that leads out');
  await expect(of('bomb.zip')).rejects.toThrow('the archive is larger than');
  expect(existsSync(join(place, 'evil'))).toBe(false);
});

it('runs tags one after another, and goes on behind those that have run', async () => {
  const line = (tag: string, more = ''): string =>
    `    - name: ${tag}\n      shell: echo ${tag} >> ${place}/order${more}\n      tags: [${tag}]\n`;
  const broken = `; test -e ${place}/mended`;
  file('site/tags.yaml', local(line('one') + line('two', broken) + line('three')));
  const play = rig();
  const inputs = { playbook_path: 'site/tags.yaml', sources: HERE, auto_tags: true };
  await expect(play.run('run', inputs)).rejects.toMatchObject({ name: 'OperationRetry' });
  expect(play.runtime).toMatchObject({ ___COMPLETED_TAGS: ['one'], ___AVAILABLE_STEPS: ['two', 'three'] });
  writeFileSync(join(place, 'mended'), '');
  const result = await play.run('run', inputs, { retryNumber: 1 });
  expect(readFileSync(join(place, 'order'), 'utf8')).toBe('one\ntwo\ntwo\nthree\n');
  expect(result).toMatchObject({ here: { changed: 2 } });
  expect(play.runtime).not.toHaveProperty('___COMPLETED_TAGS');
  await play.run('run', { ...inputs, auto_tags: false, tags: ['three', 'one'] });
  expect(readFileSync(join(place, 'order'), 'utf8')).toMatch(/three\none\n$/);
});
