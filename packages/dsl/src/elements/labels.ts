import type { Json, JsonObject } from '@baton/kernel';
import { childOf, entriesOf, isString, itemsOf, setOwn, toJson } from '../yaml/node';
import type { ElementContext } from './element-context';

/** Parses `labels` or `blueprint_labels` (reference 2.12). */
export function parseLabels(context: ElementContext, section: 'labels' | 'blueprint_labels'): JsonObject {
  const result: JsonObject = {};
  const allowsFunctions = section === 'labels';
  for (const { name, value } of entriesOf(context.root.get(section))) {
    const values = itemsOf(childOf(value, 'values'));
    values.forEach((item, i) => {
      const isFit = isString(item) || (allowsFunctions && item.kind === 'map' && !item.has('get_attribute'));
      if (isFit) return;
      context.diagnostics.report('bad_label_value', `a value of the label "${name}" is not allowed`, {
        at: item,
        path: `${section}.${name}.values[${i}]`,
        expected: allowsFunctions ? 'a string, or a function other than get_attribute' : 'a string',
      });
    });
    setOwn(result, name, { values: values.map(toJson) } as Json);
  }
  return result;
}

/** Parses `{name: {value, description?}}` of outputs and capabilities; other sections stay as they are. */
export function parseFreeSection(
  context: ElementContext,
  section: 'outputs' | 'capabilities' | 'resource_tags',
): JsonObject {
  const result: JsonObject = {};
  for (const { name, value } of entriesOf(context.root.get(section))) setOwn(result, name, toJson(value));
  return result;
}
