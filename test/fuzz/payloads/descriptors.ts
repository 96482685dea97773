/** Methods and messages described by proto/, from which a fuzz run makes calls. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../harness/processes';

export interface Field {
  name: string;
  jsonName: string;
  number: number;
  isRepeated: boolean;
  type: string;
  /** For messages and enums. */
  typeName: string;
}

export interface Method {
  /** /baton.catalog.v1.CatalogService/GetPlan */
  path: string;
  input: string;
}

export interface Descriptors {
  methods: readonly Method[];
  /** Fields by the full name of the message, which begins with a dot. */
  messages: ReadonlyMap<string, readonly Field[]>;
}

interface RawMessage {
  name: string;
  field?: {
    name: string;
    jsonName: string;
    number: number;
    label: string;
    type: string;
    typeName?: string;
  }[];
  nestedType?: RawMessage[];
}
interface RawFile {
  package: string;
  messageType?: RawMessage[];
  service?: { name: string; method: { name: string; inputType: string }[] }[];
}

/** Reads proto/ with buf. @throws Error when it does not compile */
export function readDescriptors(): Descriptors {
  const buf = [join(root, 'node_modules/.bin/buf'), 'build', 'proto', '-o', '-#format=json'] as const;
  const text = execFileSync(buf[0], buf.slice(1), { cwd: root, maxBuffer: 64 * 1024 * 1024 }).toString();
  const { file } = JSON.parse(text) as { file: RawFile[] };
  const messages = new Map<string, readonly Field[]>();
  const add = (within: string, message: RawMessage): void => {
    const name = `${within}.${message.name}`;
    messages.set(
      name,
      (message.field ?? []).map(({ label, typeName = '', ...field }) => ({
        ...field,
        isRepeated: label === 'LABEL_REPEATED',
        typeName,
      })),
    );
    for (const nested of message.nestedType ?? []) add(name, nested);
  };
  for (const { package: name, messageType } of file)
    for (const one of messageType ?? []) add(`.${name}`, one);
  const methods = file.flatMap(({ package: name, service }) =>
    (service ?? []).flatMap((one) =>
      one.method.map((method) => ({ path: `/${name}.${one.name}/${method.name}`, input: method.inputType })),
    ),
  );
  return { methods, messages };
}
