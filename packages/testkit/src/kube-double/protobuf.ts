// The typed clients of Go send these kinds as protobuf. Numbers of fields: the generated.proto files of k8s.io/api and apimachinery.
import { ApiError } from './api-error';
import type { Dict } from './object';

type Field =
  | [name: string, kind: 'text' | 'number' | 'flag' | 'bytes' | 'texts' | 'time' | 'textMap' | 'bytesMap']
  | [name: string, kind: 'message' | 'messages', fields: Message];
type Message = Readonly<Record<number, Field>>;

const OWNER: Message = {
  1: ['kind', 'text'],
  3: ['name', 'text'],
  4: ['uid', 'text'],
  5: ['apiVersion', 'text'],
  6: ['controller', 'flag'],
  7: ['blockOwnerDeletion', 'flag'],
};
const METADATA: Message = {
  1: ['name', 'text'],
  2: ['generateName', 'text'],
  3: ['namespace', 'text'],
  5: ['uid', 'text'],
  6: ['resourceVersion', 'text'],
  7: ['generation', 'number'],
  8: ['creationTimestamp', 'time'],
  11: ['labels', 'textMap'],
  12: ['annotations', 'textMap'],
  13: ['ownerReferences', 'messages', OWNER],
  14: ['finalizers', 'texts'],
};
const metadata: Field = ['metadata', 'message', METADATA];

const MESSAGES: Record<string, Message> = {
  Secret: {
    1: metadata,
    2: ['data', 'bytesMap'],
    3: ['type', 'text'],
    4: ['stringData', 'textMap'],
    5: ['immutable', 'flag'],
  },
  ConfigMap: { 1: metadata, 2: ['data', 'textMap'], 3: ['binaryData', 'bytesMap'], 4: ['immutable', 'flag'] },
  Namespace: { 1: metadata, 2: ['spec', 'message', { 1: ['finalizers', 'texts'] }] },
  ServiceAccount: { 1: metadata, 4: ['automountServiceAccountToken', 'flag'] },
  DeleteOptions: {
    1: ['gracePeriodSeconds', 'number'],
    2: ['preconditions', 'message', { 1: ['uid', 'text'], 2: ['resourceVersion', 'text'] }],
    3: ['orphanDependents', 'flag'],
    4: ['propagationPolicy', 'text'],
    5: ['dryRun', 'texts'],
  },
};

const MAGIC = Buffer.from('k8s\0');

/** @throws ApiError 415 for kinds that are not in the table */
export function fromProtobuf(bytes: Buffer): Dict {
  if (!bytes.subarray(0, 4).equals(MAGIC)) throw refusal('a body without the prefix k8s');
  const { typeMeta, raw } = decode(bytes.subarray(4), {
    1: ['typeMeta', 'message', { 1: ['apiVersion', 'text'], 2: ['kind', 'text'] }],
    2: ['raw', 'bytes'],
  }) as { typeMeta: { apiVersion: string; kind: string }; raw: string };
  const message = MESSAGES[typeMeta.kind];
  if (message === undefined) throw refusal(`protobuf of the kind ${typeMeta.kind}`);
  return { ...typeMeta, ...decode(Buffer.from(raw, 'base64'), message) };
}

const refusal = (what: string): ApiError =>
  new ApiError(415, 'UnsupportedMediaType', `the double does not read ${what}: send JSON or YAML`);

function decode(bytes: Buffer, message: Message): Dict {
  const result: Dict = {};
  let at = 0;
  const varint = (): number => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw refusal('this protobuf');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(BigInt.asIntN(64, value));
    }
  };
  const part = (length: number): Buffer => {
    const taken = bytes.subarray(at, at + length);
    at += length;
    return taken;
  };
  while (at < bytes.length) {
    const tag = varint();
    const [number, wire] = [tag >> 3, tag & 7];
    if (wire !== 0 && wire !== 2) throw refusal('this protobuf');
    const value = wire === 0 ? varint() : part(varint());
    const field = message[number];
    if (field !== undefined) put(result, field, value);
  }
  return result;
}

function put(result: Dict, field: Field, value: number | Buffer): void {
  const [name, kind] = field;
  const bytes = value as Buffer;
  const list = (item: unknown): unknown[] => [...((result[name] as unknown[] | undefined) ?? []), item];
  const entry = (inner: 'text' | 'bytes'): Dict => {
    const { key = '', value: text = '' } = decode(bytes, { 1: ['key', 'text'], 2: ['value', inner] });
    return { ...(result[name] as Dict | undefined), [String(key)]: text };
  };
  if (kind === 'number') result[name] = value;
  else if (kind === 'flag') result[name] = value !== 0;
  else if (kind === 'text')
    result[name] = bytes.length === 0 && name !== 'value' ? undefined : bytes.toString('utf8');
  else if (kind === 'bytes') result[name] = bytes.toString('base64');
  else if (kind === 'texts') result[name] = list(bytes.toString('utf8'));
  else if (kind === 'textMap') result[name] = entry('text');
  else if (kind === 'bytesMap') result[name] = entry('bytes');
  else if (kind === 'message') result[name] = decode(bytes, field[2]);
  else if (kind === 'messages') result[name] = list(decode(bytes, field[2]));
}
