import { type ExitMeaning, FatalError } from '@baton/plugin-sdk';

export interface OutputOptions {
  showsLines: boolean;
  showsCommands: boolean;
  exitCodes: Record<number, ExitMeaning>;
}

/** Groups of Fabric 1, and the words of Fabric 2. */
const GROUPS = ['status', 'aborts', 'warnings', 'running', 'stdout', 'stderr', 'user', 'everything'];
const OTHER_WORDS = ['both', 'out', 'err', 'output', 'commands', 'exceptions'];
/** Any of these: no lines. The two outputs are not kept apart. */
const LINES = ['stdout', 'everything', 'both', 'out', 'output'];

/** Reads `hide_output` and `non_recoverable_error_exit_codes`. @throws FatalError for other values */
export function readOutputOptions(inputs: Readonly<Record<string, unknown>>): OutputOptions {
  const { hide_output: hidden, non_recoverable_error_exit_codes: codes } = inputs;
  const groups = hidden === true ? ['everything'] : hidden === false ? [] : listOf(hidden);
  for (const group of groups)
    if (typeof group !== 'string' || ![...GROUPS, ...OTHER_WORDS].includes(group))
      throw new FatalError(
        `hide_output: ${JSON.stringify(group)} is no group; expected ${GROUPS.join(', ')}`,
      );
  const fatal = listOf(codes).map((code) => {
    const number = typeof code === 'string' && /^\d+$/.test(code) ? Number(code) : code;
    if (typeof number === 'number' && Number.isInteger(number)) return number;
    throw new FatalError(`non_recoverable_error_exit_codes: ${JSON.stringify(code)} is no exit code`);
  });
  const has = (names: readonly string[]): boolean => groups.some((group) => names.includes(group as string));
  return {
    showsLines: !has(LINES),
    showsCommands: !has(['running', 'everything', 'both']),
    exitCodes: Object.fromEntries(fatal.map((code) => [code, 'fatal'])),
  };
}

const listOf = (value: unknown): unknown[] =>
  value === undefined || value === null || value === '' ? [] : Array.isArray(value) ? value : [value];
