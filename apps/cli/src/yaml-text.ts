import { Document, isScalar, visit } from 'yaml';
import { escapedDocument, needsQuotes } from './plain-text';

/** Returns a value as a YAML document. Texts that a terminal could obey are quoted and escaped. */
export function yamlText(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, (_key, node) => {
    if (isScalar(node) && typeof node.value === 'string' && needsQuotes(node.value))
      node.type = 'QUOTE_DOUBLE';
  });
  return escapedDocument(document.toString({ lineWidth: 0 }));
}
