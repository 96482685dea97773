/** Scripts of shells that complete commands, options and their values. They are made from the tree of commands: nothing is kept twice. */
import type { Command, Option } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** One command as the shells see it. */
interface Node {
  /** Names below the program: `deployments list`; empty for the program itself. */
  path: string;
  /** Names that lead to it, those with aliases included. */
  paths: readonly string[];
  children: readonly { names: readonly string[]; about: string }[];
  options: readonly Option[];
}

/** Returns the script for a shell, for `source <(baton completion bash)`. */
export function completionScript(program: Command, shell: Shell): string {
  const nodes = nodesOf(program, [''], program.options);
  if (shell === 'bash') return bashScript(program.name(), nodes);
  return shell === 'zsh' ? zshScript(program.name(), nodes) : fishScript(program.name(), nodes);
}

function nodesOf(command: Command, paths: readonly string[], globals: readonly Option[]): Node[] {
  const children = command.commands.map((child) => ({
    names: [child.name(), ...child.aliases()],
    about: child.description(),
  }));
  const own = command.options.filter((option) => !globals.includes(option));
  const below = command.commands.flatMap((child) =>
    nodesOf(
      child,
      paths.flatMap((path) => [child.name(), ...child.aliases()].map((name) => `${path} ${name}`.trim())),
      globals,
    ),
  );
  return [{ path: paths[0]!, paths, children, options: [...own, ...globals] }, ...below];
}

const flagsOf = (option: Option): string[] =>
  [option.short, option.long].filter((flag) => flag !== undefined);
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const takesValue = (option: Option): boolean => option.required;

/** Options with a value: what follows them is no command. The same flag may be a mere flag of another command. */
function valueFlags(nodes: readonly Node[]): string[] {
  const flags = nodes.flatMap(({ options }) => options.filter(takesValue).flatMap(flagsOf));
  return [...new Set(flags)].sort();
}

/** Choices of options by their flags. */
function choices(nodes: readonly Node[]): [flags: string, values: string][] {
  const found = new Map<string, string>();
  for (const { options } of nodes)
    for (const option of options)
      if (option.argChoices) for (const flag of flagsOf(option)) found.set(flag, option.argChoices.join(' '));
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A function of shells that have arrays and `case`: it puts the words that may follow into `words`. */
function words(nodes: readonly Node[], name: string): string[] {
  return [
    `_${name}_words() {`,
    '  case "$1" in',
    ...nodes.map(({ paths, children, options }) => {
      const offered = [
        ...children.flatMap(({ names }) => names.slice(0, 1)),
        ...options.flatMap(flagsOf),
        '--help',
      ];
      return `    ${paths.map(quoted).join('|')}) words=${quoted(offered.join(' '))} ;;`;
    }),
    '    *) return 1 ;;',
    '  esac',
    '}',
    `_${name}_choices() {`,
    '  case "$1" in',
    ...choices(nodes).map(([flag, values]) => `    ${flag}) words=${quoted(values)} ;;`),
    `    ${valueFlags(nodes).join('|')}) words= ;;`,
    '    *) return 1 ;;',
    '  esac',
    '}',
  ];
}

function bashScript(name: string, nodes: readonly Node[]): string {
  return [
    `# Completion of ${name} for bash: source <(${name} completion bash)`,
    ...words(nodes, name),
    `_${name}() {`,
    '  local current="${COMP_WORDS[COMP_CWORD]}" path="" words="" word i skip=',
    '  COMPREPLY=()',
    `  if _${name}_choices "\${COMP_WORDS[COMP_CWORD-1]}"; then`,
    '    if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '    else COMPREPLY=($(compgen -f -- "$current")); fi',
    '    return',
    '  fi',
    '  for ((i = 1; i < COMP_CWORD; i++)); do',
    '    word="${COMP_WORDS[i]}"',
    '    if [ -n "$skip" ]; then skip=; continue; fi',
    `    if _${name}_choices "$word"; then skip=1; continue; fi`,
    '    case "$word" in -*) continue ;; esac',
    `    if _${name}_words "\${path:+$path }$word"; then path="\${path:+$path }$word"; fi`,
    '  done',
    `  _${name}_words "$path"`,
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    // Where nothing matches, bash completes files.
    `complete -o default -F _${name} ${name}`,
    '',
  ].join('\n');
}

function zshScript(name: string, nodes: readonly Node[]): string {
  return [
    `#compdef ${name}`,
    `# Completion of ${name} for zsh: source <(${name} completion zsh)`,
    ...words(nodes, name),
    `_${name}() {`,
    '  local current="${words[CURRENT]}" previous="${words[CURRENT-1]}" place="" word skip=',
    '  local -a typed=("${words[@]:1:$((CURRENT - 2))}")',
    '  local words',
    `  if _${name}_choices "$previous"; then`,
    '    if [[ -n "$words" ]]; then compadd -- ${=words}; else _files; fi',
    '    return',
    '  fi',
    '  for word in "${typed[@]}"; do',
    '    if [[ -n "$skip" ]]; then skip=; continue; fi',
    `    if _${name}_choices "$word"; then skip=1; continue; fi`,
    '    [[ "$word" == -* ]] && continue',
    `    if _${name}_words "\${place:+$place }$word"; then place="\${place:+$place }$word"; fi`,
    '  done',
    `  _${name}_words "$place"`,
    '  compadd -- ${=words} || _files',
    '}',
    `compdef _${name} ${name}`,
    '',
  ].join('\n');
}

function fishScript(name: string, nodes: readonly Node[]): string {
  const condition = (paths: readonly string[]): string =>
    `-n ${quoted(paths.map((path) => `__${name}_at ${quoted(path)}`).join('; or '))}`;
  const lines = nodes.flatMap(({ paths, children, options }) => [
    ...children.map(
      ({ names, about }) =>
        `complete -c ${name} ${condition(paths)} -f -a ${quoted(names[0]!)} -d ${quoted(about)}`,
    ),
    ...options.map((option) => {
      const short = option.short === undefined ? '' : ` -s ${option.short.slice(1)}`;
      const long = option.long === undefined ? '' : ` -l ${option.long.slice(2)}`;
      const values = option.argChoices
        ? ` -x -a ${quoted(option.argChoices.join(' '))}`
        : option.required
          ? ' -r'
          : '';
      return `complete -c ${name} ${condition(paths)}${short}${long}${values} -d ${quoted(option.description)}`;
    }),
  ]);
  return [
    `# Completion of ${name} for fish: ${name} completion fish | source`,
    `set -g __${name}_value_flags ${valueFlags(nodes).join(' ')}`,
    `set -g __${name}_paths ${nodes
      .flatMap(({ paths }) => paths)
      .filter((path) => path !== '')
      .map(quoted)
      .join(' ')}`,
    `function __${name}_at`,
    '  set -l place ""',
    '  set -l skip 0',
    '  for word in (commandline -opc)[2..-1]',
    '    if test $skip = 1; set skip 0; continue; end',
    `    if contains -- $word $__${name}_value_flags; set skip 1; continue; end`,
    '    string match -q -- "-*" $word; and continue',
    '    set -l next (string trim "$place $word")',
    `    contains -- $next $__${name}_paths; and set place $next`,
    '  end',
    '  test "$place" = "$argv[1]"',
    'end',
    ...lines,
    '',
  ].join('\n');
}
