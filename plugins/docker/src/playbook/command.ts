import { FatalError } from '@baton/plugin-sdk';
import { quote } from '@baton/plugin-sdk/ssh';
import { splitWords } from '../container/split-words';
import type { Settings } from './schema';

/** Paths in the container. */
interface CommandFiles {
  inventory: string;
  variables: string;
  playbook: string;
}

/** Set by the node itself. */
const OWN = ['extra-vars', 'inventory', 'verbosity'];
const JOINED = ['tags', 'skip-tags'];

/**
 * The command of ansible-playbook for a container. Each value is one word with its option, so no value becomes an option.
 * @throws FatalError for a name that cannot be an option, and for additional_args with an open quote
 */
export function playbookCommand(settings: Settings, files: CommandFiles): string {
  const { debug_level: level, options_config: options } = settings;
  const words = [
    settings.ansible_playbook_executable_path || 'ansible-playbook',
    ...(level > 0 ? [`-${'v'.repeat(level)}`] : []),
    '-i',
    files.inventory,
    `--extra-vars=@${files.variables}`,
    ...(settings.ansible_become ? ['--become'] : []),
    ...Object.entries(options).flatMap(([name, value]) => optionOf(name, value)),
    ...splitWords(settings.additional_args),
    '--',
    files.playbook,
  ];
  return words.map(quote).join(' ');
}

function optionOf(name: string, value: unknown): string[] {
  const option = name.replaceAll('_', '-');
  if (!/^[a-z][a-z-]*$/.test(option))
    throw new FatalError(`options_config: ${JSON.stringify(name)} is no name of an option`);
  if (OWN.includes(option) || value === null || value === false || value === '') return [];
  if (value === true) return [`--${option}`];
  if (!Array.isArray(value)) return [`--${option}=${textOf(value)}`];
  return JOINED.includes(option)
    ? [`--${option}=${value.map(textOf).join(',')}`]
    : value.map((one) => `--${option}=${textOf(one)}`);
}

const textOf = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);

/** The variables of a run: those of options_config below those of run_data. */
export function variablesOf({ options_config: options, run_data: data }: Settings): Record<string, unknown> {
  const more: unknown = options.extra_vars ?? options['extra-vars'];
  return { ...(typeof more === 'object' && more !== null && !Array.isArray(more) ? more : {}), ...data };
}
