/**
 * External texts that the parser of an archive needs. The parser does no input or output: it reads the texts in the
 * task and lists the missing ones. The caller obtains these and calls again. The number of rounds is the depth of
 * external imports.
 */

/** An external text; null: it does not exist. */
export type Fetched =
  | { kind: 'text'; text: string }
  | {
      kind: 'plugin';
      text: string;
      labels: Record<string, string[]>;
      blueprintLabels: Record<string, string[]>;
      resourceTags: Record<string, string>;
    }
  | { kind: 'blueprint'; mainFile: string; files: ArchiveFiles }
  /** The text cannot be obtained, with the reason; `valid`: names of existing alternatives. */
  | { kind: 'unreadable'; reason: string; valid?: string[] }
  | null;

export interface ArchiveFiles {
  /** All paths below the top folder. */
  paths: string[];
  /** Texts of the YAML files, by path. */
  texts: Record<string, string>;
}

/** The files of one archive, and the external texts obtained so far. */
export interface ArchiveTask {
  mainFile: string;
  files: ArchiveFiles;
  /** By need key. */
  fetched: Record<string, Fetched>;
  nowMs: number;
}

export const needUrl = (url: string): string => `url ${url}`;
export const needFile = (path: string): string => `file ${path}`;
export const needBlueprint = (id: string): string => `blueprint ${id}`;
export const needPlugin = (
  name: string,
  version: string | null,
  distribution: string | null,
  dsl: string,
): string => `plugin ${JSON.stringify([name, version, distribution, dsl])}`;

export type Need =
  | { kind: 'url'; url: string }
  | { kind: 'file'; path: string }
  | { kind: 'blueprint'; id: string }
  | { kind: 'plugin'; name: string; version: string | null; distribution: string | null; dsl: string };

export function readNeed(key: string): Need {
  const space = key.indexOf(' ');
  const kind = key.slice(0, space);
  const rest = key.slice(space + 1);
  if (kind === 'url') return { kind, url: rest };
  if (kind === 'file') return { kind, path: rest };
  if (kind === 'blueprint') return { kind, id: rest };
  const [name, version, distribution, dsl] = JSON.parse(rest) as [
    string,
    string | null,
    string | null,
    string,
  ];
  return { kind: 'plugin', name, version, distribution, dsl };
}
