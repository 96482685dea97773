import { randomInt } from 'node:crypto';

/** The number of characters of a password, and the least number of each kind; -1: no characters of that kind. */
export interface PasswordRule {
  length: number;
  uppercase: number;
  lowercase: number;
  digits: number;
  symbols: number;
}

const SMALL = 'abcdefghijklmnopqrstuvwxyz';
const ALPHABETS: Record<Exclude<keyof PasswordRule, 'length'>, string> = {
  uppercase: SMALL.toUpperCase(),
  lowercase: SMALL,
  digits: '0123456789',
  symbols: ' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
};
const KINDS = ['uppercase', 'lowercase', 'digits', 'symbols'] as const;
const MIN_LENGTH = 6;

/**
 * Returns the reason why no password can match the rule, in the words of the reference; null: one can
 * (reference/workflows.md 8.3).
 */
export function ruleComplaint(rule: PasswordRule): string | null {
  const counts = KINDS.map((kind) => rule[kind]);
  if (rule.length < MIN_LENGTH) return `Password length is required to be at least ${MIN_LENGTH} characters`;
  if (counts.some((count) => count < -1))
    return 'Illegal character group length provided: expecting an integer greater than 0, or -1 for not using this character group';
  if (counts.every((count) => count === -1))
    return 'Could not satisfy password requirements: at least one character group should be used';
  // An excluded kind takes no place.
  const required = counts.reduce((sum, count) => sum + Math.max(count, 0), 0);
  return required > rule.length
    ? 'Could not satisfy password requirements: lengths of required character groups is larger than the password length'
    : null;
}

/** Returns a random password for a rule without complaint. */
export function makePassword(rule: PasswordRule): string {
  const used = KINDS.filter((kind) => rule[kind] >= 0);
  const required = used.flatMap((kind) => Array.from({ length: rule[kind] }, () => pick(ALPHABETS[kind])));
  const all = used.map((kind) => ALPHABETS[kind]).join('');
  const rest = Array.from({ length: rule.length - required.length }, () => pick(all));
  return shuffled([...required, ...rest]).join('');
}

const pick = (alphabet: string): string => alphabet[randomInt(alphabet.length)]!;

/** Fisher-Yates shuffle. */
function shuffled(characters: string[]): string[] {
  for (let i = characters.length - 1; i > 0; i--) {
    const j = randomInt(i + 1);
    [characters[i], characters[j]] = [characters[j]!, characters[i]!];
  }
  return characters;
}
