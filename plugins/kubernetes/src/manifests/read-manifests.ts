import { FatalError } from '@baton/plugin-sdk';
import { parseAllDocuments } from 'yaml';
import { isDict, type KubeObject } from '../client/kube-object';

/** Limits of one file: hostile authors could fill the memory of the plugin. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
const MAX_OBJECTS = 1_000;
const MAX_ALIASES = 100;
const MAX_DEPTH = 100;

/**
 * The objects of a file of YAML with one or more documents; lists are opened. YAML 1.1, as kubectl reads it: `0644` is octal.
 * @throws FatalError with the name of the file, and the line or number of the document
 */
export function readManifests(text: string, where: string): KubeObject[] {
  const objects: KubeObject[] = [];
  for (const { value, at } of documentsOf(text, where)) {
    objects.push(...objectsOf(value, at));
    if (objects.length > MAX_OBJECTS) throw new FatalError(`${where} has more than ${MAX_OBJECTS} objects`);
  }
  if (objects.length === 0)
    throw new FatalError(`${where} has no objects: expected apiVersion, kind and metadata`);
  return objects;
}

/** The value of a file of YAML with one document, read like manifests; undefined: it is empty. @throws FatalError */
export function readYaml(text: string, where: string): unknown {
  const documents = documentsOf(text, where);
  if (documents.length > 1) throw new FatalError(`${where} has ${documents.length} documents: expected one`);
  return documents[0]?.value;
}

/** Errors show no line of the file: it may hold secrets. */
function documentsOf(text: string, where: string): { value: unknown; at: string }[] {
  if (text.length > MAX_CHARACTERS)
    throw new FatalError(`${where} is longer than ${MAX_CHARACTERS} characters`);
  const documents = parseAllDocuments(text, {
    version: '1.1',
    merge: true,
    logLevel: 'silent',
    // Dates and numbers to the base 60 stay the texts that they are in the file.
    customTags: (tags) =>
      tags.filter((tag) => typeof tag === 'string' || !isTime(tag as { format?: string; tag: string })),
  });
  return [...documents].map((document, index) => {
    const at = `${where}, document ${index + 1}`;
    const error = document.errors[0];
    if (error !== undefined)
      throw new FatalError(`${where} is no YAML: ${error.code} in line ${error.linePos?.[0].line ?? '?'}`);
    return { value: contentOf(document, at), at };
  });
}

const isTime = ({ format, tag }: { format?: string; tag: string }): boolean =>
  format === 'TIME' || tag.endsWith(':timestamp');

function contentOf(document: { toJS(options: { maxAliasCount: number }): unknown }, at: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (cause) {
    throw new FatalError(`${at}: its anchors and aliases cannot be resolved: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function objectsOf(value: unknown, at: string): KubeObject[] {
  if (value === null || value === undefined) return [];
  if (!isDict(value)) throw new FatalError(`${at}: expected a dictionary`);
  if (Array.isArray(value.items) && typeof value.kind === 'string' && value.kind.endsWith('List'))
    return value.items.flatMap((item, i) => objectsOf(item, `${at}, item ${i + 1}`));
  return [checkedObject(value, at)];
}

/** @throws FatalError for a dictionary that is no object of Kubernetes */
export function checkedObject(value: unknown, at: string): KubeObject {
  if (!isDict(value)) throw new FatalError(`${at}: expected a dictionary`);
  for (const name of ['apiVersion', 'kind'])
    if (typeof value[name] !== 'string' || value[name] === '')
      throw new FatalError(`${at}: ${name} is missing`);
  if (!isDict(value.metadata) || typeof value.metadata.name !== 'string' || value.metadata.name === '')
    throw new FatalError(`${at}: metadata.name is missing in the ${String(value.kind)}`);
  if (depthOf(value) > MAX_DEPTH) throw new FatalError(`${at} is nested deeper than ${MAX_DEPTH} levels`);
  return structuredClone(value) as KubeObject;
}

function depthOf(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return depth;
  return Math.max(depth, ...Object.values(value).map((inner) => depthOf(inner, depth + 1)));
}
