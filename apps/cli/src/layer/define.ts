/**
 * The table layer: a command is a value. It says its operations of the API, its options and its examples, so that help,
 * completion, documentation and the test of coverage read the same list (`coverage.test.ts`).
 */
import type { OperationId } from '@baton/client';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { CliIo } from '../cli-io';
import type { Printer } from '../output';
import { type Session, sessionOf } from '../session';
import { type ClientOf, declaredClient } from './declared-client';
import { watched, watchOption } from './watch';

/** Values of the options by their names in camel case, as commander parses them. */
export type Options = Record<string, any>;
/** Arguments in their order; those of `<ids...>` follow one another. A missing optional argument is undefined. */
export type Args = readonly any[];

/** A command as the documentation and the test of coverage see it. */
export interface Declared {
  /** `blueprints upload`. */
  path: string;
  about: string;
  uses: readonly OperationId[];
}

/** The program that is being built, and what it is built for. */
export interface Cli {
  program: Command;
  io: CliIo;
  declared: Declared[];
  /** Session of the command that runs, for the text of its failure. */
  session: Session | null;
  exitCode: number;
}

/** What a command gets to run. */
export interface Run<Uses extends OperationId> {
  args: Args;
  options: Options;
  client: ClientOf<Uses>;
  out: Printer;
  io: CliIo;
  /** Without its client, which has all operations. */
  session: Omit<Session, 'client'>;
}

export interface CommandSpec<Uses extends OperationId> {
  /** Name and arguments: `upload <path>`. */
  name: string;
  about: string;
  /** Operations that it may call; none for a command that asks no manager. */
  uses: readonly Uses[];
  options?: readonly Option[];
  /** Command lines without `baton`, shown by --help. */
  examples?: readonly string[];
  /** Offers --watch: the command only reads. */
  isWatched?: boolean;
  /** @returns the exit code when it is not 0 */
  run(run: Run<Uses>): Promise<number | undefined | void> | number | undefined | void;
}

export interface NounSpec {
  alias?: string;
  about: string;
  examples?: readonly string[];
}

export function createCli(io: CliIo): Cli {
  return { program: new Command('baton'), io, declared: [], session: null, exitCode: 0 };
}

/** Adds a kind of object: the parent of its commands. */
export function noun(cli: Cli, name: string, { alias, about, examples }: NounSpec): Command {
  const command = cli.program.command(name).description(about);
  if (alias !== undefined) command.alias(alias);
  addExamples(command, examples);
  return command;
}

/** Adds a command below `parent`. */
export function command<const Uses extends OperationId>(
  cli: Cli,
  parent: Command,
  spec: CommandSpec<Uses>,
): Command {
  const added = parent.command(spec.name).description(spec.about);
  for (const option of spec.options ?? []) added.addOption(option);
  if (spec.isWatched) added.addOption(watchOption());
  addExamples(added, spec.examples);
  const path = pathOf(added);
  cli.declared.push({ path, about: spec.about, uses: spec.uses });
  added.action(async () => {
    const session = sessionOf(cli.io, added);
    cli.session = session;
    const client = declaredClient(session.client, path, spec.uses);
    const run: Run<Uses> = {
      args: added.processedArgs.flat(),
      options: added.opts<Options>(),
      client,
      out: session.out,
      io: cli.io,
      session,
    };
    const { watch } = run.options;
    if (spec.isWatched && watch !== undefined)
      await watched(cli.io, added, watch, (out) => spec.run({ ...run, out }));
    else cli.exitCode = (await spec.run(run)) ?? 0;
  });
  return added;
}

function pathOf(command: Command): string {
  const parent = command.parent;
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name();
}

function addExamples(command: Command, examples: readonly string[] | undefined): void {
  if (examples === undefined || examples.length === 0) return;
  const lines = examples.map((example) => `  baton ${example}`);
  command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/** An option with a value, or a flag. */
export const option = (flags: string, about: string, byDefault?: unknown): Option => {
  const made = new Option(flags, about);
  return byDefault === undefined ? made : made.default(byDefault);
};

export const required = (flags: string, about: string): Option =>
  new Option(flags, about).makeOptionMandatory();

/** An option that may be repeated; its value is a list. */
export const repeated = (flags: string, about: string): Option =>
  new Option(flags, `${about}; repeatable`)
    .default([])
    .argParser((value: string, before: string[]) => [...before, value]);

/** A number of at least 0. */
export const number = (flags: string, about: string, byDefault?: number): Option =>
  option(flags, about, byDefault).argParser(parseNumber);

function parseNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('It must be a number of at least 0.');
  return value;
}

/** An option with one of few values. */
const choice = (flags: string, about: string, values: readonly string[], byDefault?: string): Option =>
  option(flags, about, byDefault).choices(values);

export const visibilityOption = (byDefault?: string): Option =>
  choice('--visibility <visibility>', 'who sees it', ['private', 'tenant', 'global'], byDefault);
