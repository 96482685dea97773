import { access, constants } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';
import { searchFolders } from './config';

/** A program with the arguments that go before all others. */
export interface Program {
  file: string;
  before: readonly string[];
}

export interface AnsiblePrograms {
  playbook: Program;
  galaxy: Program;
  /** Added to the environment: where collections and roles are. */
  env: Readonly<Record<string, string>>;
}

/** Where the programs of an installation are: in one folder. */
export function programsIn(bin: string, python?: string): AnsiblePrograms {
  const program = (name: string): Program =>
    python === undefined
      ? { file: join(bin, name), before: [] }
      : { file: python, before: [join(bin, name)] };
  return { playbook: program('ansible-playbook'), galaxy: program('ansible-galaxy'), env: {} };
}

/**
 * Finds Ansible on this machine: the named program, that of the named venv, or that of PATH.
 * @throws FatalError that says what was looked for and what to do
 */
export async function findAnsible(settings: {
  ansible_playbook_executable_path: string;
  ansible_external_venv: string;
}): Promise<AnsiblePrograms> {
  const { ansible_playbook_executable_path: path, ansible_external_venv: venv } = settings;
  if (path !== '') {
    if (!isAbsolute(path) || !(await isProgram(path)))
      throw new FatalError(
        `ansible_playbook_executable_path: operations find no program ${path}; expected a whole path that they see (BATON_WORKER_SHARED_PATHS shows them more)`,
      );
    return { ...programsIn(dirname(path)), playbook: { file: path, before: [] } };
  }
  if (venv !== '') {
    const bin = join(venv, 'bin');
    if (!isAbsolute(venv) || !(await isProgram(join(bin, 'ansible-playbook'))))
      throw new FatalError(
        `ansible_external_venv: operations find no ${join(bin, 'ansible-playbook')} (BATON_WORKER_SHARED_PATHS shows them more)`,
      );
    return programsIn(bin);
  }
  for (const folder of searchFolders())
    if (await isProgram(join(folder, 'ansible-playbook'))) return programsIn(folder);
  throw new FatalError(
    'there is no ansible-playbook on the PATH of operations. Install Ansible on the machine of the worker (on Debian: apt-get install ansible-core), or name ansible_external_venv or ansible_playbook_executable_path',
  );
}

const isProgram = async (path: string): Promise<boolean> =>
  await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
