import { ApiError } from '@baton/client';
import { CommanderError } from 'commander';
import { type CliIo, processIo } from './cli-io';
import { exitCodeOf, isConnectionFailure } from './exit-codes';
import { errorJson, errorText } from './failure';
import { escapedDocument, plainText } from './plain-text';
import { buildProgram } from './program';
import type { Session } from './session';
import { yamlText } from './yaml-text';

/**
 * Runs one command line.
 * @param argv as in process.argv: the arguments begin at index 2
 * @returns the exit code
 */
export async function runCli(argv: readonly string[], io: CliIo = processIo()): Promise<number> {
  const cli = buildProgram(io);
  try {
    await cli.program.parseAsync(joinedSorts(argv));
    return cli.exitCode;
  } catch (error) {
    // commander has printed its own errors already.
    if (!(error instanceof CommanderError)) report(io, error, cli.session, cli.program.opts());
    return exitCodeOf(error);
  }
}

/**
 * Writes `--sort -field` as `--sort=-field`. Options of the whole program are read first, and `-timestamp` would be their `-t` with
 * the tenant `imestamp`.
 */
function joinedSorts(argv: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of argv) {
    if (joined.at(-1) === '--sort') joined[joined.length - 1] = `--sort=${word}`;
    else joined.push(word);
  }
  return joined;
}

/** Programs get the error as the one document that they expect on standard output; people get it on standard error. */
function report(
  io: CliIo,
  error: unknown,
  session: Session | null,
  { json, output }: { json?: boolean; output?: string },
): void {
  const document = { error: errorJson(error) };
  if (output === 'yaml') io.out(yamlText(document));
  else if (json || output === 'json') io.out(`${escapedDocument(JSON.stringify(document, null, 2))}\n`);
  else io.err(`baton: ${plainText(`${errorText(error)}${advice(error, session)}`)}\n`);
}

/** What to do about a manager that does not answer, or that refuses the login. */
function advice(error: unknown, session: Session | null): string {
  if (session === null) return '';
  const { profile, url, username } = session;
  if (isConnectionFailure(error))
    return `\n  no manager answers at ${url}; name another address by --url, BATON_URL or baton profiles use NAME`;
  if (!(error instanceof ApiError) || error.status !== 401) return '';
  if (profile !== null)
    return `\n  log in again: baton login --profile ${profile}, or use another one: baton profiles use NAME`;
  return `\n  log in: baton login ${url}${username === undefined ? '' : ` --username ${username}`}`;
}
