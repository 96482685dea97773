import { FatalError } from '@baton/plugin-sdk';

/** Separates a command into words by the rules of a shell for quotes and backslashes. Nothing else means anything. @throws FatalError */
export function splitWords(command: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let at = 0; at < command.length; at++) {
    const character = command[at]!;
    if (quote === "'") {
      if (character === "'") quote = '';
      else word += character;
    } else if (character === '\\' && (quote === '' || '"\\$`'.includes(command[at + 1] ?? ''))) {
      word = (word ?? '') + (command[++at] ?? '');
    } else if (quote === '"') {
      if (character === '"') quote = '';
      else word += character;
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + character;
  }
  if (quote !== '') throw new FatalError(`a command has a ${quote} without its end`);
  if (word !== null) words.push(word);
  return words;
}
