import { newId, randomSuffix } from './ids';

/**
 * A JSON text that becomes part of an answer as it is: what comes from the database as text, or is the same in many
 * answers, is neither parsed nor written again. Outside of `jsonParts` it is written like the value it stands for.
 */
export class RawJson {
  #text: string | undefined;
  #bytes: Uint8Array | undefined;
  #value: unknown;
  /** What the text consists of, in order. */
  readonly parts: readonly (string | RawJson)[];

  /** A text, its bytes as UTF-8, or parts: those that are raw texts keep their bytes, and none need be JSON alone. */
  constructor(content: string | Uint8Array | readonly (string | RawJson)[]) {
    this.parts = typeof content === 'string' || content instanceof Uint8Array ? [] : content;
    if (typeof content === 'string') this.#text = content;
    else if (content instanceof Uint8Array) this.#bytes = content;
  }

  get text(): string {
    return (this.#text ??= this.#bytes ? new TextDecoder().decode(this.#bytes) : joined(this.parts));
  }
  /** The text as UTF-8; made once, so keep the object where the text is used again. */
  get bytes(): Uint8Array {
    return (this.#bytes ??= Buffer.from(this.text, 'utf8'));
  }
  /** Characters or bytes, whichever is at hand. */
  get size(): number {
    return this.#bytes?.length ?? this.text.length;
  }
  /** What the text says. */
  get value(): unknown {
    return (this.#value ??= JSON.parse(this.text));
  }
  toJSON(): unknown {
    if (met === null) return this.value;
    met.push(this);
    return MARK;
  }
}

/** Cannot be guessed, so no text of a user can be taken for it. */
const MARK = `raw-${newId()}-${randomSuffix(16)}`;
const QUOTED_MARK = `"${MARK}"`;

/** Raw texts of the value that is being written, in their order; null while none is. */
let met: RawJson[] | null = null;

/**
 * JSON of `value` in parts: texts, and between them the raw texts that it holds. Joined they are what JSON.stringify
 * would answer. Undefined is written as null.
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
