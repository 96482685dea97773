import { newId, randomSuffix } from './ids';

/**
 * A JSON text that is put into an answer unchanged. A text from the database, or one that is the same in many answers,
 * is neither parsed nor written again. Outside of `jsonParts` it is written like its value.
 */
export class RawJson {
  #text: string | undefined;
  #bytes: Uint8Array | undefined;
  #value: unknown;
  /** The parts of the text, in order. */
  readonly parts: readonly (string | RawJson)[];

  /** Takes a text, its bytes as UTF-8, or parts. Parts that are raw texts keep their bytes; a part need not be valid JSON alone. */
  constructor(content: string | Uint8Array | readonly (string | RawJson)[]) {
    this.parts = typeof content === 'string' || content instanceof Uint8Array ? [] : content;
    if (typeof content === 'string') this.#text = content;
    else if (content instanceof Uint8Array) this.#bytes = content;
  }

  get text(): string {
    return (this.#text ??= this.#bytes ? new TextDecoder().decode(this.#bytes) : joined(this.parts));
  }
  /** The text as UTF-8; computed once, so keep the object when the text is used again. */
  get bytes(): Uint8Array {
    return (this.#bytes ??= Buffer.from(this.text, 'utf8'));
  }
  /** Characters or bytes, whichever is available. */
  get size(): number {
    return this.#bytes?.length ?? this.text.length;
  }
  /** The parsed value of the text. */
  get value(): unknown {
    return (this.#value ??= JSON.parse(this.text));
  }
  toJSON(): unknown {
    if (met === null) return this.value;
    met.push(this);
    return MARK;
  }
}

/** The mark cannot be guessed, so no text of a user can equal it. */
const MARK = `raw-${newId()}-${randomSuffix(16)}`;
const QUOTED_MARK = `"${MARK}"`;

/** Raw texts of the value that is being written, in order; null while no value is being written. */
let met: RawJson[] | null = null;

/**
 * Returns the JSON of `value` in parts: texts, and between them the raw texts in the value. Joined they are the result
 * of JSON.stringify. Undefined is written as null.
 */
export function jsonParts(value: unknown): readonly (string | RawJson)[] {
  if (value instanceof RawJson) return partsOf(value);
  met = [];
  try {
    const text = JSON.stringify(value) ?? 'null';
    if (met.length === 0) return [text];
    const between = text.split(QUOTED_MARK);
    const parts: (string | RawJson)[] = [];
    for (const [i, part] of between.entries()) {
      const raw = i === 0 ? null : met[i - 1]!;
      // Not spread: a plan has more parts than a call may have arguments.
      if (raw) for (const one of partsOf(raw)) parts.push(one);
      parts.push(part);
    }
    return parts;
  } finally {
    met = null;
  }
}

const partsOf = (raw: RawJson): readonly (string | RawJson)[] => (raw.parts.length === 0 ? [raw] : raw.parts);

/** JSON of `value` as one text. */
export function jsonText(value: unknown): string {
  const parts = jsonParts(value);
  return parts.length === 1 && typeof parts[0] === 'string' ? parts[0] : joined(parts);
}

function joined(parts: readonly (string | RawJson)[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : part.text)).join('');
}
