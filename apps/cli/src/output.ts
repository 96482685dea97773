import { recordText, tableText } from './cells';
import { escapedDocument, oneLine, plainText } from './plain-text';
import { yamlText } from './yaml-text';

export const formats = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type Format = (typeof formats)[number];

/** What a kind of object shows besides its columns. */
export interface View {
  /** Further columns with `-o wide`. */
  wide?: readonly string[];
  /** Field that names an object, for `-o name`; default: the first of id, name, key, username. */
  name?: string;
}

/** Prints text for people, or with -o json and -o yaml exactly one document. Programs get the same on a terminal and in a pipe. */
export interface Printer {
  format: Format;
  /** Whether a program reads the output: json, yaml or name. */
  isMachine: boolean;
  /** A list as a table of the named columns. */
  table(rows: readonly object[], columns: readonly string[], view?: View): void;
  /** One object as lines of `name  value`. */
  record(object: object, fields?: readonly string[], view?: View): void;
  /** A sentence for people; nothing for programs. */
  say(text: string): void;
  /** One object of a stream: for people a sentence, for programs one document a line. */
  line(text: string, object: object): void;
  /** The result of a command that has nothing else to show. */
  done(text: string, result: object, view?: View): void;
}

export interface PrinterOptions {
  format: Format;
  isColoured?: boolean;
  write: (text: string) => void;
}

const NAMES = ['id', 'name', 'key', 'username'];

function nameOf(object: object, view: View | undefined): string[] {
  const fields = object as Record<string, unknown>;
  const field = view?.name ?? NAMES.find((name) => fields[name] !== undefined && fields[name] !== null);
  const value = field === undefined ? undefined : fields[field];
  return value === undefined || value === null ? [] : [oneLine(String(value))];
}

interface Documents {
  document(value: unknown): void;
  part(value: unknown): void;
  names(objects: readonly object[], view?: View): void;
}

/** Returns a printer that writes to `write`. Text of the manager is made harmless for terminals (`plain-text.ts`). */
export function printer({ format, isColoured = false, write }: PrinterOptions): Printer {
  const lines = (texts: readonly string[]) => write(texts.map((text) => `${text}\n`).join(''));
  const documents: Documents = {
    document: (value) =>
      write(format === 'yaml' ? yamlText(value) : `${escapedDocument(JSON.stringify(value, null, 2))}\n`),
    part: (value) =>
      write(format === 'yaml' ? `---\n${yamlText(value)}` : `${escapedDocument(JSON.stringify(value))}\n`),
    names: (objects, view) => lines(objects.flatMap((object) => nameOf(object, view))),
  };
  if (format === 'json' || format === 'yaml') return documentPrinter(format, documents);
  if (format === 'name') return namePrinter(documents);
  return {
    format,
    isMachine: false,
    table: (rows, columns, view) => {
      const shown = format === 'wide' ? [...columns, ...(view?.wide ?? [])] : columns;
      lines([tableText(rows as Record<string, unknown>[], shown, isColoured)]);
    },
    record: (object, fields) => {
      const shown = format === 'wide' || fields === undefined ? Object.keys(object) : fields;
      lines([recordText(object as Record<string, unknown>, shown, isColoured)]);
    },
    say: (text) => lines([plainText(text)]),
    line: (text) => lines([plainText(text)]),
    done: (text) => lines([plainText(text)]),
  };
}

const nothing = () => undefined;

function documentPrinter(format: Format, { document, part }: Documents): Printer {
  return {
    format,
    isMachine: true,
    table: (rows) => document(rows),
    record: (object) => document(object),
    say: nothing,
    line: (_text, object) => part(object),
    done: (_text, result) => document(result),
  };
}

function namePrinter({ names }: Documents): Printer {
  return {
    format: 'name',
    isMachine: true,
    table: (rows, _columns, view) => names(rows, view),
    record: (object, _fields, view) => names([object], view),
    say: nothing,
    line: (_text, object) => names([object]),
    done: (_text, result, view) => names([result], view),
  };
}
