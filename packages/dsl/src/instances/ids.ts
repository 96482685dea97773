import { fail } from '../diagnostics/dsl-error';

/** A random function with results in 0..1 (1 excluded). */
export type Random = () => number;

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const LENGTH = 6;
const SPACE = ALPHABET.length ** LENGTH;
const TRIES = 20;

function suffixOf(number: number): string {
  let rest = number;
  let text = '';
  for (let i = 0; i < LENGTH; i++) {
    text += ALPHABET[rest % ALPHABET.length];
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}

/** Makes unused ids of the form `<name>_<6 characters of a-z0-9>`. */
export class IdMint {
  private readonly counts = new Map<string, number>();

  constructor(
    private readonly taken: Set<string>,
    private readonly random: Random,
  ) {}

  next(name: string): string {
    const count = this.counts.get(name) ?? 0;
    if (count >= SPACE)
      fail('ids_exhausted', `there are no more instance ids for "${name}"`, { value: name });
    this.counts.set(name, count + 1);
    let number = 0;
    for (let i = 0; i < TRIES; i++) {
      number = Math.floor(this.random() * SPACE) % SPACE;
      const id = `${name}_${suffixOf(number)}`;
      if (this.claim(id)) return id;
    }
    // a poor random function: use the next free id
    for (let i = 1; i < SPACE; i++) {
      const id = `${name}_${suffixOf((number + i) % SPACE)}`;
      if (this.claim(id)) return id;
    }
    return fail('ids_exhausted', `there are no more instance ids for "${name}"`, { value: name });
  }

  private claim(id: string): boolean {
    if (this.taken.has(id)) return false;
    this.taken.add(id);
    return true;
  }
}
