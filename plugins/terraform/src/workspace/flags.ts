import { FatalError } from '@baton/plugin-sdk';

type Flag = string | Record<string, unknown>;

/** Flags that would take something away from the plugin: where state, variables and plan are. */
const OWN = new Set([
  'state',
  'state-out',
  'out',
  'var-file',
  'json',
  'chdir',
  'no-color',
  'input',
  'backend-config',
]);

/** The commands that know a flag; others are left out where they would be refused. Flags that are not named go to all of these. */
const COMMANDS = new Set(['apply', 'destroy', 'plan']);
const ONLY: Readonly<Record<string, readonly string[]>> = {
  upgrade: ['init'],
  'plugin-dir': ['init'],
  reconfigure: ['init'],
  'auto-approve': [],
};

/**
 * The further flags of a command: `-name` and `-name=value`, however many dashes they were written with.
 * @throws FatalError for a flag of the plugin itself, or a text that is none
 */
export function flagsFor(command: string, flags: readonly Flag[]): string[] {
  const written = flags.flatMap((flag) =>
    typeof flag === 'string'
      ? [flag]
      : Object.entries(flag).map(([name, value]) => `${name}=${String(value)}`),
  );
  return written.flatMap((text) => {
    const [, name = '', value] = /^-{0,2}([a-z][a-z0-9-]*)(=[^\0]*)?$/s.exec(text) ?? [];
    if (name === '') throw new FatalError(`flags_override: ${JSON.stringify(text).slice(0, 100)} is no flag`);
    if (OWN.has(name)) throw new FatalError(`flags_override: ${name} belongs to the plugin`);
    const commands = ONLY[name] ?? [...COMMANDS];
    return commands.includes(command) ? [`-${name}${value ?? ''}`] : [];
  });
}
