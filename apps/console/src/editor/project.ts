/** The files of an archive in the editor. Immutable: each change creates a new project. */
import { textOf } from '../source/text-lines';

export interface ProjectFile {
  /** null: the file is binary and only kept. */
  text: string | null;
  /** Content of a binary file. */
  bytes: Uint8Array | null;
  /** Unix file mode; scripts may be executable. */
  mode: number;
}

export interface Project {
  mainFile: string;
  files: ReadonlyMap<string, ProjectFile>;
}

export interface ArchiveEntry {
  path: string;
  bytes: Uint8Array;
  mode: number;
}

const NEW_MODE = 0o644;
/** Same rules as the manager's (services/catalog, entry-rules.ts). */
const MOST_PATH_CHARACTERS = 1024;
const BAD_CHARACTERS = /[\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069\\]/;

const plainPath = (path: string): string =>
  path
    .normalize('NFC')
    .split('/')
    .map((part) => part.replace(/[. ]+$/, ''))
    .join('/');

export function projectOf(mainFile: string, entries: readonly ArchiveEntry[]): Project {
  const files = new Map<string, ProjectFile>();
  for (const { path, bytes, mode } of entries) {
    const text = textOf(bytes);
    files.set(path, { text, bytes: text === null ? bytes : null, mode });
  }
  return { mainFile, files };
}

export function entriesOf({ files }: Project): ArchiveEntry[] {
  return [...files].map(([path, { text, bytes, mode }]) => ({
    path,
    bytes: text === null ? (bytes ?? new Uint8Array()) : new TextEncoder().encode(text),
    mode,
  }));
}

/** Returns the reason why the path cannot be used for another file, as a text id; null when it can. */
export function pathProblem(
  path: string,
  { files }: Project,
): 'empty' | 'characters' | 'outside' | 'taken' | null {
  if (path === '' || path.endsWith('/')) return 'empty';
  if (BAD_CHARACTERS.test(path) || path.length > MOST_PATH_CHARACTERS) return 'characters';
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..')) return 'outside';
  // The manager refuses a file with the name of a folder, and names that differ only in Unicode form or in dots or spaces at the end.
  const plain = plainPath(path);
  for (const known of files.keys()) {
    const other = plainPath(known);
    if (other === plain || other.startsWith(`${plain}/`) || plain.startsWith(`${other}/`)) return 'taken';
  }
  return null;
}

export function withText(project: Project, path: string, text: string): Project {
  const before = project.files.get(path);
  if (before?.text === text) return project;
  return withFile(project, path, { text, bytes: null, mode: before?.mode ?? NEW_MODE });
}

const withFile = (project: Project, path: string, file: ProjectFile): Project => ({
  ...project,
  files: new Map(project.files).set(path, file),
});

export function renamed(project: Project, from: string, to: string): Project {
  const files = new Map([...project.files].map(([path, file]) => [path === from ? to : path, file]));
  return { mainFile: project.mainFile === from ? to : project.mainFile, files };
}

export function without(project: Project, path: string): Project {
  const files = new Map(project.files);
  files.delete(path);
  return { ...project, files };
}

/** Returns the input of the parser: all paths, and the texts of YAML files. */
export function parserFiles({ files, mainFile }: Project): {
  paths: string[];
  texts: Record<string, string>;
} {
  const texts: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [path, { text }] of files)
    if (text !== null && (path === mainFile || isYaml(path))) texts[path] = text;
  return { paths: [...files.keys()], texts };
}

export const isYaml = (path: string): boolean => /\.ya?ml$/i.test(path);
