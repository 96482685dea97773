import type { Envelope } from '@baton/contracts';
import { newId } from '@baton/kernel';

/** A notification holds less than 8,000 bytes. Messages are split by characters of at most 4 bytes. */
const MAX_PART_CHARACTERS = 1_900;
const MAX_UNFINISHED = 100;

/** Splits the envelope into notification payloads `<message>:<part>:<parts>:<text>`; parts of one statement arrive together. */
export function splitFanout(envelope: Envelope): string[] {
  const text = JSON.stringify(envelope);
  const count = Math.ceil(text.length / MAX_PART_CHARACTERS);
  const id = newId();
  return Array.from(
    { length: count },
    (_, i) => `${id}:${i}:${count}:${text.slice(i * MAX_PART_CHARACTERS, (i + 1) * MAX_PART_CHARACTERS)}`,
  );
}

/** Returns the function that joins parts; it returns the text when its last part came. */
export function createFanoutReader(): (payload: string) => string | null {
  const unfinished = new Map<string, string[]>();
  return (payload) => {
    const match = /^([^:]*):(\d+):(\d+):(.*)$/s.exec(payload);
    if (!match) return null;
    const [, id = '', index, count, text = ''] = match;
    if (count === '1') return text;
    const parts = unfinished.get(id) ?? [];
    parts[Number(index)] = text;
    if (parts.length === Number(count) && !parts.includes(undefined as never)) {
      unfinished.delete(id);
      return parts.join('');
    }
    unfinished.set(id, parts);
    // When the connection broke between two parts, the rest never comes.
    if (unfinished.size > MAX_UNFINISHED) unfinished.delete(unfinished.keys().next().value as string);
    return null;
  };
}
