import type { Diagnostics } from '../diagnostics/diagnostic';
import { withArticle } from '../diagnostics/wording';
import { isFunctionNode } from '../functions/registry';
import { checkKey, foundName, gate, type ShapeContext } from '../schema/check-shape';
import { type Entry, isNull, isString, type MapNode, type Node } from '../yaml/node';
import { NAMESPACE_DELIMITER } from './namespace';

/** One entry of `imports:`. */
export interface ImportItem {
  /** As written, including the namespace. */
  text: string;
  namespace: string | null;
  target: string;
  properties: MapNode | null;
  node: Node;
  path: string;
}

/** Reads the `imports` of one file (reference 2.2); malformed items are reported and left out. */
export function readImportItems(root: MapNode, context: ShapeContext): ImportItem[] {
  const node = root.get('imports');
  if (node === undefined) return [];
  const { diagnostics } = context;
  if (isNull(node)) {
    diagnostics.report('null_imports', '"imports" is empty', {
      at: node,
      path: 'imports',
      expected: 'a list, or no imports at all',
    });
    return [];
  }
  if (node.kind !== 'seq') {
    diagnostics.report('bad_shape', `"imports" must be a list, not ${withArticle(foundName(node))}`, {
      at: node,
      path: 'imports',
      expected: 'list',
    });
    return [];
  }
  const seen = new Set<string>();
  const items: ImportItem[] = [];
  node.items.forEach((item, i) => {
    const read = readItem(item, `imports[${i}]`, context);
    if (read === null) return;
    if (seen.has(read.text)) {
      diagnostics.report('duplicate_import', `"${read.text}" is imported twice`, {
        at: item,
        path: read.path,
        value: read.text,
        expected: 'every import once',
      });
      return;
    }
    seen.add(read.text);
    items.push(read);
  });
  return items;
}

function readItem(item: Node, path: string, context: ShapeContext): ImportItem | null {
  const { diagnostics } = context;
  if (isString(item)) return splitItem(item.value, item, path, null, diagnostics);
  if (item.kind !== 'map') {
    diagnostics.report(isNull(item) ? 'bad_import' : 'bad_shape', 'an import must be a string or a dict', {
      at: item,
      path,
      expected: 'string or dict',
    });
    return null;
  }
  // the last entry first, and the whole item after its parts
  let isFit = true;
  for (const entry of [...item.entries].reverse()) {
    if (!checkProperties(entry, path, context)) isFit = false;
    if (!checkKey(context, entry, path)) isFit = false;
  }
  if (!isFit) return null;
  const [entry] = item.entries;
  if (item.entries.length !== 1) {
    diagnostics.report('bad_import', 'an import with properties must have one entry', {
      at: item,
      path,
      expected: '{IMPORT: {PROPERTY: VALUE, ...}}',
    });
    return null;
  }
  const properties = entry!.value;
  return splitItem(entry!.name, item, path, properties.kind === 'map' ? properties : null, diagnostics);
}

/** Checks the properties of an import; empty properties count as none. */
function checkProperties(entry: Entry, path: string, context: ShapeContext): boolean {
  const { diagnostics } = context;
  const at = `${path}.${entry.name}`;
  if (isNull(entry.value)) return true;
  if (entry.value.kind !== 'map') {
    diagnostics.report('bad_shape', 'the properties of an import must be a dict', {
      at: entry.value,
      path: at,
      expected: 'dict',
    });
    return false;
  }
  gate(context, 'an import with properties', [1, 5], entry.value, at);
  for (const property of entry.value.entries) {
    const { value } = property;
    const isAllowed =
      value.kind === 'seq' || isFunctionNode(value) || (value.kind === 'scalar' && value.value !== null);
    if (isAllowed) continue;
    diagnostics.report(
      'bad_import',
      `the import property "${property.name}" must be a value, a list or a function`,
      {
        at: value,
        path: `${at}.${property.name}`,
        expected: 'string, integer, float, boolean, list or function',
      },
    );
    return false;
  }
  return true;
}

/** Splits at the last `--`. */
function splitItem(
  text: string,
  node: Node,
  path: string,
  properties: MapNode | null,
  diagnostics: Diagnostics,
): ImportItem | null {
  const at = text.lastIndexOf(NAMESPACE_DELIMITER);
  if (at < 0) return { text, namespace: null, target: text, properties, node, path };
  const namespace = text.slice(0, at);
  const target = text.slice(at + NAMESPACE_DELIMITER.length);
  if (namespace.includes(NAMESPACE_DELIMITER)) {
    diagnostics.report('bad_namespace', `the namespace "${namespace}" contains "--"`, {
      at: node,
      path,
      value: text,
      expected: 'one namespace before the import',
    });
    return null;
  }
  return { text, namespace: namespace === '' ? null : namespace, target, properties, node, path };
}
