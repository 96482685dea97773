import type { NodeDefinition } from '../store/nodes.sql';
import { documentsOf } from './node-documents';

const operations = { create: { inputs: {} } };
const definition = (more: Partial<NodeDefinition> = {}): NodeDefinition => ({
  type_hierarchy: ['a', 'b'],
  operations,
  plugins: [],
  plugins_to_install: null,
  relationships: [],
  ...more,
});

describe('documents of nodes', () => {
  it('are written once for nodes that share their parts, and each for itself otherwise', async () => {
    const definitions = [
      definition(),
      definition({ type_hierarchy: ['a', 'c'] }),
      definition(),
      definition({ relationships: [{ target_id: 'x' }] }),
      definition({ relationships: [{ target_id: 'x' }] }),
      definition({ former_relationships: [] }),
      definition({ operations: {} }),
      definition({ plugins_to_install: [] }),
    ];
    let written = 0;
    const documents = await documentsOf(definitions, (one) => {
      written += 1;
      return JSON.stringify(one);
    });
    expect(documents).toEqual(definitions.map((one) => JSON.stringify(one)));
    expect(written).toBe(definitions.length - 1);
  });

  it('let others have their turn', async () => {
    let turns = 0;
    const other = setInterval(() => (turns += 1), 0);
    await documentsOf(Array.from({ length: 2_000 }, () => definition()), () => {
      const until = performance.now() + 0.1;
      while (performance.now() < until);
      return turns;
    });
    clearInterval(other);
    expect(turns).toBeGreaterThan(0);
  });
});
