/**
 * Sample messages of proto/, created from the descriptors: the same values in the form of proto-loader and in the form of
 * generated code.
 */
import {
  create,
  createFileRegistry,
  type DescField,
  type DescMessage,
  fromBinary,
  ScalarType,
} from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { descriptorFiles } from '../../packages/rpc/src/descriptors.gen';

/**
 * filled: every field has a value, every list two. zero: fields that can be distinguished from absent ones are present, with
 * their default. bare: no fields.
 */
export type Fullness = 'filled' | 'zero' | 'bare';
export const fullnesses: readonly Fullness[] = ['filled', 'zero', 'bare'];

/**
 * One message in both forms: as proto-loader returns it (`longs` and `enums` numbers, `defaults`), and as the generated decoders
 * do.
 */
export interface Sample {
  loaded: unknown;
  generated: unknown;
}

/** Maximum depth: `ReportRequest` contains others of its kind. */
const MAX_DEPTH = 4;

const files = Object.values(descriptorFiles).map(({ bytes }) =>
  fromBinary(FileDescriptorProtoSchema, Buffer.from(bytes, 'base64')),
);
export const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: files }));

const big = (n: number): number => Number.MAX_SAFE_INTEGER - n;
/** Returns the n-th value of a type: all different, and at the limits of the type where errors are likely. */
const scalars: Record<ScalarType, (n: number) => unknown> = {
  [ScalarType.STRING]: (n) => `text ${n}: ä 漢 😀 "\\\n`,
  [ScalarType.BYTES]: (n) => Buffer.from([0, n & 255, 128, 255]),
  [ScalarType.BOOL]: () => true,
  [ScalarType.DOUBLE]: (n) => n + 0.1,
  [ScalarType.FLOAT]: (n) => n + 0.5,
  [ScalarType.INT32]: (n) => (n % 2 === 0 ? 2 ** 31 - 1 - n : n - 2 ** 31),
  [ScalarType.SINT32]: (n) => (n % 2 === 0 ? 2 ** 31 - 1 - n : n - 2 ** 31),
  [ScalarType.SFIXED32]: (n) => n - 2 ** 31,
  [ScalarType.UINT32]: (n) => 2 ** 32 - 1 - n,
  [ScalarType.FIXED32]: (n) => 2 ** 32 - 1 - n,
  [ScalarType.INT64]: (n) => (n % 2 === 0 ? big(n) : -big(n)),
  [ScalarType.SINT64]: (n) => (n % 2 === 0 ? big(n) : -big(n)),
  [ScalarType.SFIXED64]: (n) => -big(n),
  [ScalarType.UINT64]: (n) => big(n),
  [ScalarType.FIXED64]: (n) => big(n),
};

function zeroOf(type: ScalarType): unknown {
  if (type === ScalarType.STRING) return '';
  if (type === ScalarType.BYTES) return Buffer.alloc(0);
  return type === ScalarType.BOOL ? false : 0;
}

const same = (value: unknown): Sample => ({ loaded: value, generated: value });

/** Creates samples; `kinds` collects the kinds of fields in them. */
export class Sampler {
  readonly kinds = new Set<string>();
  #count = 0;

  message(desc: DescMessage, fullness: Fullness, depth = 0): Sample {
    const loaded: Record<string, unknown> = {};
    const generated: Record<string, unknown> = {};
    for (const field of desc.fields) {
      if (field.oneof) continue;
      const name = field.jsonName;
      const value = this.#field(field, fullness, depth);
      // An absent field with presence: null for a message, no property otherwise.
      if (value !== null) loaded[name] = value.loaded;
      else if (field.fieldKind === 'message') loaded[name] = null;
      generated[name] = value === null ? undefined : value.generated;
    }
    for (const oneof of desc.oneofs) {
      this.kinds.add('oneof');
      const chosen = fullness === 'bare' ? null : oneof.fields[this.#count++ % oneof.fields.length]!;
      generated[oneof.localName] = undefined;
      if (!chosen) continue;
      const { loaded: of, generated: value } = this.#one(chosen, fullness, depth);
      loaded[chosen.jsonName] = of;
      generated[oneof.localName] = { $case: chosen.jsonName, value };
    }
    return { loaded, generated };
  }

  #field(field: DescField, fullness: Fullness, depth: number): Sample | null {
    const isFilled = fullness === 'filled' && depth < MAX_DEPTH;
    if (field.fieldKind === 'list') {
      this.kinds.add(`repeated ${field.listKind}`);
      const values = isFilled ? [this.#one(field, fullness, depth), this.#one(field, fullness, depth)] : [];
      return { loaded: values.map((v) => v.loaded), generated: values.map((v) => v.generated) };
    }
    if (field.fieldKind === 'map') {
      this.kinds.add(`map of ${field.mapKind}`);
      const entries = (isFilled ? [1, 2] : []).map(
        (n) => [this.#key(field.mapKey, n), this.#one(field, fullness, depth)] as const,
      );
      return {
        loaded: Object.fromEntries(entries.map(([key, v]) => [key, v.loaded])),
        generated: Object.fromEntries(entries.map(([key, v]) => [key, v.generated])),
      };
    }
    const isOptional = field.proto.proto3Optional;
    if (isOptional) this.kinds.add('optional');
    const hasPresence = isOptional || field.fieldKind === 'message';
    if (hasPresence && (fullness === 'bare' || depth >= MAX_DEPTH)) return null;
    return this.#one(field, isFilled ? 'filled' : 'zero', depth);
  }

  #key(type: ScalarType, n: number): string {
    return type === ScalarType.BOOL ? String(n === 1) : type === ScalarType.STRING ? `key ${n}` : `${n}`;
  }

  /** Returns one value of the field's type. */
  #one(field: DescField, fullness: Fullness, depth: number): Sample {
    if (field.message) {
      this.kinds.add('message');
      return this.message(field.message, fullness, depth + 1);
    }
    if (field.enum) {
      this.kinds.add('enum');
      const { values } = field.enum;
      return same(fullness === 'filled' ? values[1 + (this.#count++ % (values.length - 1))]!.number : 0);
    }
    this.kinds.add(ScalarType[field.scalar!]!);
    return same(fullness === 'filled' ? scalars[field.scalar!](this.#count++) : zeroOf(field.scalar!));
  }
}
