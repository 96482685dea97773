// A playbook of one task over ssh to a real sshd: as an operation of the plugin, in turns with ansible-playbook alone.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeRig } from '../../plugins/ansible/src/testing/operation-rig';
import { startSshd } from '../../plugins/ansible/src/testing/sshd';
import { columns, type Plan } from '../harness/report';
import { spread } from '../harness/statistics';

const PLAYBOOK = '- hosts: all\n  gather_facts: false\n  tasks: [{ ping: {} }]\n';

export async function ansible(plan: Plan): Promise<object> {
  const sshd = await startSshd();
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-ansible-'));
  try {
    const key = join(folder, 'key');
    writeFileSync(key, sshd.key, { mode: 0o600 });
    writeFileSync(join(folder, 'play.yaml'), PLAYBOOK);
    const host = {
      ansible_host: '127.0.0.1',
      ansible_port: sshd.port,
      ansible_user: sshd.user,
      ansible_ssh_private_key_file: key,
      // Without a connection that stays open: each turn makes its own.
      ansible_ssh_common_args:
        '-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ControlMaster=no',
    };
    const sources = { all: { hosts: { one: host } } };
    writeFileSync(join(folder, 'hosts.yaml'), JSON.stringify(sources));
    const bare = (): void => {
      const env = { ...process.env, ANSIBLE_STDOUT_CALLBACK: 'json', ANSIBLE_HOST_KEY_CHECKING: 'False' };
      execFileSync('ansible-playbook', ['-i', 'hosts.yaml', 'play.yaml'], {
        cwd: folder,
        env,
        stdio: 'ignore',
      });
    };
    const operation = (): Promise<unknown> =>
      makeRig(folder).run('run', { playbook_path: 'play.yaml', sources, debug_level: 0 });
    return await turns(plan, bare, operation);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await sshd.stop();
  }
}

async function turns(plan: Plan, bare: () => void, operation: () => Promise<unknown>): Promise<object> {
  const found = { 'bare ms': [] as number[], 'operation ms': [] as number[], 'more ms': [] as number[] };
  for (let round = 0; round < plan.rounds; round++) {
    const one = await timed(bare);
    const other = await timed(operation);
    found['bare ms'].push(one);
    found['operation ms'].push(other);
    found['more ms'].push(other - one);
  }
  plan.say(columns('ansible', 'median', 'worst'));
  const spreads = Object.entries(found).map(([name, values]) => [name, spread(values, 'least')] as const);
  for (const [name, { median, worst }] of spreads) plan.say(columns(name, median, worst));
  return Object.fromEntries(spreads);
}

async function timed(work: () => unknown): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}
