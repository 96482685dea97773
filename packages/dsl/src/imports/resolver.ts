import type { PluginSpec } from './plugin-spec';

/** A text that a resolver found. */
export interface FoundText {
  text: string;
  /** Address for diagnostics and for the text's own relative imports; absent: the requested address. */
  location?: string;
}

/** A plugin's YAML with data stored by the installation: its labels and tags replace those of the YAML. */
export interface FoundPlugin extends FoundText {
  labels?: Record<string, string[]>;
  blueprintLabels?: Record<string, string[]>;
  resourceTags?: Record<string, string>;
}

/** The text exists, or might exist, but cannot be obtained. `unreadable`: a clause with the reason. */
export interface Unreadable {
  unreadable: string;
  /** Names of existing alternatives. */
  valid?: readonly string[];
}

export const isUnreadable = (found: unknown): found is Unreadable =>
  typeof found === 'object' && found !== null && 'unreadable' in found;

/**
 * The only external access of this package: reads imported texts. Implementations decide about the network, the file
 * system, time limits and access rights. `null` means that the text does not exist; a thrown error passes through the
 * parser.
 */
export interface ImportResolver {
  /** Reads `file:`, `http(s):`, `ftp:` and `resource:` addresses (and `plugin:`/`blueprint:` without the calls below). */
  read(url: string): Promise<Read> | Read;
  /** Whether a local path exists: for imports beside the blueprint and scripts that operations name. */
  exists?(path: string): Promise<boolean> | boolean;
  plugin?(spec: PluginSpec, definitionsVersion: string): Promise<ReadPlugin> | ReadPlugin;
  blueprint?(id: string): Promise<FoundText | null> | FoundText | null;
}

type Read = string | FoundText | Unreadable | null;
type ReadPlugin = FoundPlugin | Unreadable | null;

/** A resolver that finds nothing: for texts without imports. */
export const emptyResolver: ImportResolver = { read: () => null };

const REMOTE = new Set(['http', 'https', 'file', 'ftp', 'plugin', 'blueprint']);

/** Whether an import is an absolute address (reference 2.2). */
export function isRemote(target: string): boolean {
  const colon = target.indexOf(':');
  return colon > 0 && REMOTE.has(target.slice(0, colon));
}

/** `name.ext` -> `name_1_4.ext`. */
export function versionedName(target: string, version: readonly number[]): string {
  const slash = target.lastIndexOf('/');
  const dot = target.lastIndexOf('.');
  const suffix = `_${version.join('_')}`;
  return dot > slash ? `${target.slice(0, dot)}${suffix}${target.slice(dot)}` : `${target}${suffix}`;
}

export function joinLocal(base: string, path: string): string {
  return base.endsWith('/') ? base + path : `${base}/${path}`;
}

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;

export function hasScheme(text: string): boolean {
  return SCHEME.test(text);
}

/** Returns the address of a location that may be a plain path. */
export function toUrl(location: string): string {
  return hasScheme(location) ? location : `file:${location}`;
}

/** Returns the local path of a `file:` address; other addresses unchanged. */
export function toPath(url: string): string {
  return url.startsWith('file:') ? url.slice(5).replace(/^\/\/(?=\/)/, '') : url;
}
