import { readFileSync } from 'node:fs';
import type { CliIo } from './cli-io';
import { exitCodes } from './exit-codes';
import { CommandFailure, UsageFailure } from './failure';

export interface SecretSource {
  /** The text itself, from the command line. */
  value?: string;
  /** File that holds it; `-` = standard input. */
  file?: string;
  /** What is asked for: "Password of alice". */
  label: string;
  /** Options that give it, for the error without a terminal. */
  options: string;
}

/** A secret is at most this long: a wrong file must not fill the memory. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Returns a secret text from an option, a file, standard input, or a prompt without echo. One line end at its end is dropped.
 * @throws UsageFailure when two sources are given, or none and there is no terminal
 */
export async function secretText(io: CliIo, source: SecretSource): Promise<string> {
  if (source.value !== undefined && source.file !== undefined)
    throw new UsageFailure(`give one of ${source.options}, not both`);
  if (source.value !== undefined) return source.value;
  if (source.file === '-') return withoutLineEnd(await allOf(io.input));
  if (source.file !== undefined) return withoutLineEnd(readFileSync(source.file, 'utf8'));
  if (io.input.isTTY && io.input.setRawMode) return hiddenLine(io, source.label);
  throw new UsageFailure(`give ${source.options}; there is no terminal to ask on`);
}

const withoutLineEnd = (text: string): string => text.replace(/\r?\n$/, '');

async function allOf(input: NodeJS.ReadableStream): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of input) {
    const buffer = Buffer.from(piece as Buffer);
    bytes += buffer.length;
    if (bytes > MOST_BYTES) throw new UsageFailure(`standard input: expected at most ${MOST_BYTES} bytes`);
    pieces.push(buffer);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Asks on standard error, so that standard output stays for the result; what is typed is not shown. */
function hiddenLine({ input, err }: CliIo, label: string): Promise<string> {
  err(`${label}: `);
  input.setRawMode?.(true);
  input.resume();
  return new Promise((resolve, reject) => {
    let typed = '';
    const end = (finish: () => void): void => {
      input.off('data', onData);
      input.setRawMode?.(false);
      input.pause();
      err('\n');
      finish();
    };
    const onData = (piece: Buffer | string): void => {
      for (const character of piece.toString()) {
        if (character === '\r' || character === '\n') return end(() => resolve(typed));
        if (character === '\u0003' || character === '\u0004')
          return end(() => reject(new CommandFailure('nothing was entered', exitCodes.interrupted)));
        typed = character === '\u007f' || character === '\b' ? typed.slice(0, -1) : typed + character;
      }
    };
    input.on('data', onData);
  });
}

/**
 * Asks for a line that is shown while it is typed; the terminal itself echoes and edits it. `byDefault`: the answer to an empty line.
 * @throws UsageFailure without a terminal; CommandFailure at the end of the input
 */
export async function shownLine(
  { input, err }: CliIo,
  { label, options, byDefault = '' }: { label: string; options: string; byDefault?: string },
): Promise<string> {
  if (!input.isTTY) throw new UsageFailure(`give ${options}; there is no terminal to ask on`);
  err(byDefault === '' ? `${label}: ` : `${label} [${byDefault}]: `);
  const line = await firstLine(input);
  return line.trim() || byDefault;
}

/** Reads up to the end of a line; the rest stays for the next question. */
function firstLine(input: CliIo['input']): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed = '';
    const leave = (): void => {
      input.off('data', onData).off('end', onEnd);
      input.pause();
    };
    const onEnd = (): void => {
      leave();
      reject(new CommandFailure('nothing was entered', exitCodes.interrupted));
    };
    const onData = (piece: Buffer | string): void => {
      typed += piece.toString();
      const end = typed.indexOf('\n');
      if (end < 0) return;
      leave();
      if (end + 1 < typed.length) input.unshift(Buffer.from(typed.slice(end + 1)));
      resolve(typed.slice(0, end).replace(/\r$/, ''));
    };
    input.on('data', onData).on('end', onEnd);
    input.resume();
  });
}
