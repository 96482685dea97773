import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Document, isMap } from 'yaml';
import { CommandFailure } from '../failure';
import { type AuthorFolder, readAuthorFolder } from './author-folder';
import { bundlePlugin, type Description, describeBundled } from './bundle-plugin';
import { licencesOf, ownFiles, type PackedFile, packed } from './pack-files';
import { type FindPublished, requireSameSchema } from './published';
import { fingerprintOf, readSigningKey, SIGNATURE_ENTRY, signatureOf } from './sign-package';

/** The format of packages that this program writes. */
const FORMAT = 1;
const MAIN = 'index.js';

export interface BuiltPlugin {
  file: string;
  name: string;
  version: string;
  bytes: number;
  sha256: string;
  types: string[];
  /** Fingerprint of the key that has signed it; null: nobody has. */
  signed_by: string | null;
}

export interface BuildOptions {
  /** Path of the file; undefined: below `dist` of the folder. */
  out?: string | undefined;
  /** Path of a private key; undefined: no signature. */
  sign?: string | undefined;
  /** Finds what was published in the same version; undefined: nothing is compared. */
  published?: FindPublished | undefined;
}

/**
 * Builds the package of a plugin in TypeScript: one file `<name>-<version>.bplug`.
 * @throws CommandFailure that says what is wrong and where
 */
export async function buildPlugin(folder: string, options: BuildOptions = {}): Promise<BuiltPlugin> {
  const key = options.sign === undefined ? null : readSigningKey(options.sign);
  const author = readAuthorFolder(folder);
  const { name, version } = author;
  const { archive, yaml, types } = await packagePlugin(author, key);
  const published = (await options.published?.(name, version)) ?? null;
  if (published) requireSameSchema(published, yaml, name, version);
  const file =
    options.out === undefined ? join(author.path, 'dist', `${name}-${version}.bplug`) : resolve(options.out);
  mkdirSync(dirname(file), { recursive: true });
  // Nobody may read half of a package.
  writeFileSync(`${file}.part`, archive);
  renameSync(`${file}.part`, file);
  return {
    file,
    name,
    version,
    bytes: archive.length,
    sha256: createHash('sha256').update(archive).digest('hex'),
    types,
    signed_by: key && fingerprintOf(createPublicKey(key)),
  };
}

/** A package in memory, with its plugin.yaml and the names of its types. */
export interface PluginPackage {
  archive: Buffer;
  yaml: string;
  types: string[];
}

/** Makes the package in memory. @throws CommandFailure that says what is wrong and where */
export async function packagePlugin(author: AuthorFolder, key: KeyObject | null): Promise<PluginPackage> {
  const [bundle, description] = await Promise.all([bundlePlugin(author), describeBundled(author)]);
  requireSame(author, description);
  const yaml = yamlText(description);
  const text = (entry: string, content: string) => ({ name: entry, content: Buffer.from(content) });
  const entries: PackedFile[] = [
    text('plugin.json', `${JSON.stringify(manifestOf(author, description), null, 2)}\n`),
    text('plugin.yaml', yaml),
    text(MAIN, bundle.code),
    text('LICENSES.txt', licencesOf(bundle.sources, author.path)),
    ...ownFiles(author.path),
  ];
  if (entries.some((entry) => entry.name === SIGNATURE_ENTRY))
    throw new CommandFailure(
      `${join(author.path, SIGNATURE_ENTRY)}: the name belongs to the signature of the package`,
    );
  if (key) entries.push(signatureOf(entries, key));
  return { archive: await packed(entries), yaml, types: description.types };
}

/** Texts about types stand before the properties of the type. */
function yamlText({ yaml, comments }: Description): string {
  const document = new Document(yaml, { aliasDuplicateObjects: false });
  for (const { path, text } of comments) {
    const type = document.getIn(path, true);
    if (isMap(type)) type.commentBefore = text.replace(/^/gm, ' ');
  }
  return document.toString({ lineWidth: 0 });
}

const manifestOf = (
  { name, version, sdk, development }: AuthorFolder,
  { types, secrets, description }: Description,
) => ({
  format: FORMAT,
  name,
  version,
  sdk,
  main: MAIN,
  types,
  secrets,
  description,
  ...(development?.inspectPort ? { development: { inspect: development.inspectPort } } : {}),
});

function requireSame(author: AuthorFolder, description: Description): void {
  for (const field of ['name', 'version'] as const)
    if (author[field] !== description[field])
      throw new CommandFailure(
        `${join(author.path, 'package.json')}: ${field} is ${author[field]}, but definePlugin says ${description[field]}; ` +
          "take it from package.json: import { name, version } from '../package.json'",
      );
}
