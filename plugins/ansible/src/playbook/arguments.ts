import { FatalError } from '@baton/plugin-sdk';
import type { Settings } from '../settings/settings';

/** Options of ansible-playbook that take a value. */
const WITH_VALUE = new Set([
  ...['become-method', 'become-user', 'connection', 'extra-vars', 'forks', 'inventory', 'limit'],
  ...['module-path', 'private-key', 'scp-extra-args', 'sftp-extra-args', 'skip-tags', 'ssh-common-args'],
  ...['ssh-extra-args', 'start-at-task', 'tags', 'timeout', 'user', 'vault-id', 'vault-password-file'],
  ...['become-password-file', 'connection-password-file', 'key-file'],
]);
/** Options without a value. Those that ask a person are left out: there is none. */
const FLAGS = new Set([
  'become',
  'check',
  'diff',
  'flush-cache',
  'force-handlers',
  'syntax-check',
  'list-tasks',
]);
/** Set by the run itself. */
const OWN = new Set(['inventory', 'extra-vars', 'tags', 'module-path']);
/** Settings that are options of the same name. */
const SETTINGS = [
  ...(['start_at_task', 'scp_extra_args', 'sftp_extra_args', 'ssh_common_args'] as const),
  ...(['ssh_extra_args', 'timeout'] as const),
];

export interface CommandFiles {
  inventory: string;
  variables: string;
  playbook: string;
  modules: string | null;
}

export interface CommandMode {
  tags: readonly string[];
  /** Change nothing, and tell what would change. */
  isCheck: boolean;
}

/**
 * The arguments of ansible-playbook. Each value stands in one argument with its option, so no value becomes an option.
 * `unknown`: names of options_config that are no options; they are left out.
 * @throws FatalError for additional_args with an open quote
 */
export function playbookArguments(
  settings: Settings,
  files: CommandFiles,
  { tags, isCheck }: CommandMode,
): { args: string[]; unknown: string[] } {
  const unknown: string[] = [];
  const options = Object.entries(settings.options_config).flatMap(([name, value]) => {
    const option = name.replaceAll('_', '-');
    // Variables are merged into the file of variables, tags run one after another.
    if (OWN.has(option)) return [];
    if (FLAGS.has(option)) return isTrue(value) ? [`--${option}`] : [];
    if (WITH_VALUE.has(option)) return valuesOf(option, value);
    unknown.push(name);
    return [];
  });
  const own = SETTINGS.filter((name) => !Object.hasOwn(settings.options_config, name)).flatMap((name) =>
    settings[name] === '' ? [] : [`--${name.replaceAll('_', '-')}=${settings[name]}`],
  );
  const args = [
    ...(settings.debug_level > 0 ? [`-${'v'.repeat(settings.debug_level)}`] : []),
    `--inventory=${files.inventory}`,
    `--extra-vars=@${files.variables}`,
    ...own,
    ...(settings.ansible_become ? ['--become'] : []),
    ...options,
    ...words(settings.additional_args),
    ...(tags.length > 0 ? [`--tags=${tags.join(',')}`] : []),
    ...(files.modules === null ? [] : [`--module-path=${files.modules}`]),
    ...(isCheck ? ['--check', '--diff'] : []),
    '--',
    files.playbook,
  ];
  return { args, unknown };
}

const isTrue = (value: unknown): boolean => value === true || /^(true|yes|on|1)$/i.test(String(value));

function valuesOf(option: string, value: unknown): string[] {
  if (value === null || value === undefined || value === '' || value === false) return [];
  if (!Array.isArray(value))
    return [`--${option}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`];
  const texts = value.map(String);
  return option === 'skip-tags'
    ? [`--${option}=${texts.join(',')}`]
    : texts.map((one) => `--${option}=${one}`);
}

/** The variables of a run: those of options_config below those of run_data. */
export function variablesOf({ options_config: options, run_data: data }: Settings): Record<string, unknown> {
  const more = options.extra_vars ?? options['extra-vars'];
  return { ...(typeof more === 'object' && more !== null && !Array.isArray(more) ? more : {}), ...data };
}

/**
 * The words of a line, as a shell divides them: quotes and backslashes, and nothing else of a shell.
 * @throws FatalError for a quote without its end
 */
export function words(line: string): string[] {
  const found: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!;
    if (quote !== '' && character === quote) quote = '';
    else if (quote === '' && (character === '"' || character === "'")) {
      quote = character;
      word ??= '';
    } else if (character === '\\' && quote !== "'" && at + 1 < line.length) word = (word ?? '') + line[++at]!;
    else if (quote === '' && /\s/.test(character)) {
      if (word !== null) found.push(word);
      word = null;
    } else word = (word ?? '') + character;
  }
  if (quote !== '') throw new FatalError(`additional_args: the quote ${quote} has no end`);
  return word === null ? found : [...found, word];
}
