import { StringDecoder } from 'node:string_decoder';

const KEPT_CHARACTERS = 1024 * 1024;
/** A longer line comes in several parts. */
const MAX_LINE = 16 * 1024;

const ESCAPES =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** A line that changes no terminal: without escape codes, control characters and marks of direction. */
export const plainLine = (line: string): string => line.replace(ESCAPES, '').replace(CONTROLS, '');

/** Reads the pieces of an output. */
export interface OutputReader {
  push(piece: Buffer): void;
  /** Passes the last line on, when it has no end. */
  end(): void;
  /** The last part of the output. */
  text(): string;
}

/** @param onLine gets plain lines; undefined: nobody wants lines */
export function outputReader(onLine: ((line: string) => void) | undefined): OutputReader {
  const decoder = new StringDecoder('utf8');
  let kept = '';
  let rest = '';
  const say = (line: string): void => onLine?.(plainLine(line));
  return {
    push: (piece) => {
      const text = decoder.write(piece);
      kept = (kept + text).slice(-KEPT_CHARACTERS);
      if (onLine === undefined) return;
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) for (const part of partsOf(line)) say(part);
      while (rest.length > MAX_LINE) {
        say(rest.slice(0, MAX_LINE));
        rest = rest.slice(MAX_LINE);
      }
    },
    end: () => {
      if (rest !== '') say(rest);
      rest = '';
    },
    text: () => kept,
  };
}

function partsOf(line: string): string[] {
  // What a program has overwritten in its line is not shown: progress bars.
  const shown = line.replace(/\r+$/, '').split('\r').at(-1)!;
  const parts: string[] = [];
  for (let at = 0; at === 0 || at < shown.length; at += MAX_LINE) parts.push(shown.slice(at, at + MAX_LINE));
  return parts;
}
