import type { Diagnostics } from '../diagnostics/diagnostic';
import { type PlanVersion, readVersion, supportedVersions } from '../elements/version';
import { checkKey, compareVersions, gate, type ShapeContext } from '../schema/check-shape';
import { childOf, fromJson, isNull, MapNode, type Node } from '../yaml/node';
import type { Document } from '../yaml/reader';
import { importedBlueprints, withNamespaceMapping, withStoredLabels } from './blueprint-sections';
import { type Fetched, fetchImport } from './fetch';
import { type ImportItem, readImportItems } from './import-items';
import type { LoadContext } from './load-context';
import { Merger } from './merge';
import { namespaceDocument, withNamespace } from './namespace';
import { applyImportProperties } from './plugin-properties';
import { isUnreadable, toUrl } from './resolver';

export interface Loaded {
  /** The merged document. */
  root: MapNode;
  version: PlanVersion;
}

interface Pending {
  root: MapNode;
  url: string | null;
  namespace: string | null;
}

/** A read file that waits to be merged: the merge begins after all files are read. */
interface Import {
  root: MapNode;
  isBasic: boolean;
}

/** Reports the faults of the reader; true when the document can be used. */
function reportDocument(document: Document, diagnostics: Diagnostics): boolean {
  const { error, source } = document;
  if (error) {
    const kind = (
      {
        reader: 'yaml_character',
        scanner: 'yaml_token',
        parser: 'yaml_syntax',
        composer: 'yaml_reference',
        limit: 'limit_exceeded',
      } as const
    )[error.stage];
    const at = { kind: 'scalar', value: null, type: 'null', source, start: error.offset } as Node;
    diagnostics.report(kind, error.message, { at, ...(error.expected ? { expected: error.expected } : {}) });
  }
  for (const node of document.nonAscii)
    diagnostics.report('non_ascii', 'only ASCII characters are allowed in texts', {
      at: node,
      expected: 'ASCII characters',
    });
  return error === null;
}

/** Returns the root mapping of a document; an empty document gives an empty mapping. */
function rootOf(document: Document, diagnostics: Diagnostics): MapNode | null {
  const { root, source } = document;
  if (root === null || (root.kind === 'scalar' && root.value === null))
    return document.error ? null : new MapNode([], source, 0);
  if (root.kind === 'map') return root;
  diagnostics.report('bad_shape', 'the document must be a dict', { at: root, expected: 'dict' });
  return null;
}

/**
 * Reads the imports of `main` breadth-first and merges all files into one document. Faults are reported; null when the
 * main file is unusable.
 */
export async function loadBlueprint(
  main: Document,
  location: string | null,
  context: LoadContext,
): Promise<Loaded | null> {
  const { diagnostics } = context;
  if (!reportDocument(main, diagnostics)) return null;
  const root = rootOf(main, diagnostics);
  if (root === null) return null;
  const declared = readVersion(root, true, diagnostics);
  const version = declared ?? {
    raw: supportedVersions.at(-1)!,
    definitions_name: 'cloudify_dsl',
    definitions_version: [1, 5],
  };
  const shape: ShapeContext = {
    diagnostics,
    version: version.definitions_version,
    validateVersion: context.validateVersion,
  };
  const definitions = root.entry('dsl_definitions');
  if (definitions && !isNull(definitions.value))
    gate(shape, 'dsl_definitions', [1, 2], definitions.key, 'dsl_definitions');
  for (const entry of root.entries) checkKey(shape, entry, '');
  const canSpread = compareVersions(version.definitions_version, [1, 3]) >= 0;
  const merger = new Merger(diagnostics, canSpread);
  merger.addMain(root);
  const walk = new ImportWalk(context, version, merger, shape);
  await walk.run({ root, url: location === null ? null : toUrl(location), namespace: null });
  return { root: merger.result(root), version };
}

class ImportWalk {
  private readonly seen = new Set<string>();
  private readonly blueprintNamespaces = new Set<string>();
  private readonly queue: Pending[] = [];
  private readonly found: Import[] = [];
  /** Ids of the blueprints that this one imports, in order of occurrence. */
  private readonly blueprints: Node[] = [];

  constructor(
    private readonly context: LoadContext,
    private readonly version: PlanVersion,
    private readonly merger: Merger,
    private readonly shape: ShapeContext,
  ) {}

  async run(main: Pending): Promise<void> {
    this.seen.add(`${main.url ?? ''} `);
    this.queue.push(main);
    for (let i = 0; i < this.queue.length; i++) {
      const file = this.queue[i]!;
      for (const item of readImportItems(file.root, this.shape)) await this.follow(file, item);
    }
    if (this.blueprints.length > 0)
      this.merger.addImport(importedBlueprints(main.root, this.blueprints), false);
    for (const { root, isBasic } of this.found) {
      this.checkVersion(root);
      this.merger.addImport(root, isBasic);
    }
  }

  private async follow(file: Pending, item: ImportItem): Promise<void> {
    const namespace =
      item.namespace === null
        ? file.namespace
        : file.namespace === null
          ? item.namespace
          : withNamespace(file.namespace, item.namespace);
    if (item.target.startsWith('blueprint:')) return this.followBlueprint(item, namespace);
    const { context } = this;
    const fetched = await fetchImport(item, file.url, this.version.definitions_version, context, (url) =>
      this.seen.has(`${url} ${namespace ?? ''}`),
    );
    if (fetched === null || fetched === 'seen') return;
    this.seen.add(`${fetched.url} ${namespace ?? ''}`);
    if (!this.mayRead(fetched.text.length, namespace, item)) return;
    const root = this.rootOf(fetched, item);
    if (root === null) return;
    const isBasic = holdsRootType(root);
    if (isBasic && item.namespace !== null) {
      context.diagnostics.report(
        'namespace_on_basic_types',
        `"${item.target}" holds the built-in types and cannot have the namespace "${item.namespace}"`,
        { at: item.node, path: item.path, expected: `- ${item.target}` },
      );
      return;
    }
    const withProperties = applyImportProperties(root, item, context.diagnostics);
    const effective = isBasic ? null : namespace;
    this.found.push({
      root: effective === null ? withProperties : namespaceDocument(withProperties, effective),
      isBasic,
    });
    this.queue.push({ root, url: fetched.location, namespace: effective });
  }

  private rootOf(fetched: Fetched, item: ImportItem): MapNode | null {
    const { cache, diagnostics, readLimits } = this.context;
    const document = cache.read(fetched.location, fetched.text, readLimits);
    const root = reportDocument(document, diagnostics) ? rootOf(document, diagnostics) : null;
    // The faults reported so far lie in a text that the author of this one may never have seen.
    if (root === null && /^https?:/i.test(fetched.url))
      diagnostics.report(
        'import_failed',
        `what the import "${item.target}" leads to is no YAML of a blueprint`,
        {
          at: item.node,
          path: item.path,
          value: item.target,
          expected: 'the address of a YAML document',
        },
      );
    return root === null || fetched.plugin === null ? root : withStoredLabels(root, fetched.plugin);
  }

  private mayRead(characters: number, namespace: string | null, item: ImportItem): boolean {
    const { budget, importLimits, diagnostics } = this.context;
    budget.imports--;
    budget.characters -= characters;
    const depth = namespace === null ? 0 : namespace.split('--').length;
    if (budget.imports >= 0 && budget.characters >= 0 && depth <= importLimits.namespaceDepth) return true;
    diagnostics.report('too_many_imports', 'the blueprint imports too much', {
      at: item.node,
      path: item.path,
      expected: `at most ${importLimits.imports} files, ${importLimits.totalLength} characters and ${importLimits.namespaceDepth} namespaces within each other`,
    });
    this.queue.length = 0;
    return false;
  }

  private checkVersion(root: MapNode): void {
    const { diagnostics, validateVersion } = this.context;
    const declared = readVersion(root, false, diagnostics);
    if (
      !declared ||
      !validateVersion ||
      compareVersions(declared.definitions_version, this.version.definitions_version) <= 0
    )
      return;
    diagnostics.report(
      'import_version_newer',
      `an import declares ${declared.raw}, which is newer than ${this.version.raw} of the main file`,
      {
        at: root.get('tosca_definitions_version'),
        path: 'tosca_definitions_version',
        expected: `${this.version.raw} or older`,
      },
    );
  }

  private async followBlueprint(item: ImportItem, namespace: string | null): Promise<void> {
    const { context } = this;
    const id = item.target.slice('blueprint:'.length);
    if (item.namespace === null || namespace === null) {
      context.diagnostics.report(
        'blueprint_import_without_namespace',
        `the import of the blueprint "${id}" needs a namespace`,
        { at: item.node, path: item.path, expected: `NAMESPACE--${item.target}` },
      );
      return;
    }
    if (this.blueprintNamespaces.has(namespace)) {
      context.diagnostics.report(
        'namespace_taken',
        `the namespace "${namespace}" is already used for another blueprint`,
        { at: item.node, path: item.path, expected: 'another namespace' },
      );
      return;
    }
    this.blueprintNamespaces.add(namespace);
    const found = await (context.resolver.blueprint
      ? context.resolver.blueprint(id)
      : context.resolver.read(item.target));
    if (found === null || isUnreadable(found)) {
      const why = found === null ? '' : `: ${found.unreadable}`;
      context.diagnostics.report('blueprint_import_failed', `there is no blueprint "${id}"${why}`, {
        at: item.node,
        path: item.path,
        value: id,
      });
      return;
    }
    const text = typeof found === 'string' ? found : found.text;
    if (
      !this.mayRead(text.length, namespace, item) ||
      context.blueprintDepth >= context.importLimits.namespaceDepth
    )
      return;
    const location = typeof found === 'string' ? null : (found.location ?? null);
    const document = context.cache.read(location ?? item.target, text, context.readLimits);
    const loaded = await loadBlueprint(document, location, {
      ...context,
      resourcesBasePath: null,
      validateVersion: false,
      blueprintDepth: context.blueprintDepth + 1,
    });
    if (loaded === null) return;
    this.blueprints.push(fromJson(id, item.node));
    this.found.push({
      root: withNamespaceMapping(namespaceDocument(loaded.root, namespace), id, namespace, item.node),
      isBasic: false,
    });
  }
}

/** Whether a file holds the built-in types: it has its own `cloudify.nodes.Root`. Entries merged from such a file carry a flag. */
function holdsRootType(root: MapNode): boolean {
  const types = childOf(root, 'node_types');
  const entry = types?.kind === 'map' ? types.entry('cloudify.nodes.Root') : undefined;
  return entry !== undefined && entry.basic !== true;
}
