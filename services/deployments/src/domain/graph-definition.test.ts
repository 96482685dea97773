import { graphDefinition } from './graph-definition';

const operation = (name: string) => ({ plugin: name === '' ? '' : 'p', operation: name, inputs: {} });

describe('what graphs are made from', () => {
  it('leaves out operations that nobody has implemented, of nodes and of both ends of relationships', () => {
    const definition = {
      type_hierarchy: ['cloudify.nodes.Root'],
      operations: { create: operation('m.create'), start: operation('') },
      plugins: [{ name: 'p', package_name: 'pkg' }],
      plugins_to_install: [],
      relationships: [
        {
          type: 'r',
          target_id: 'host',
          properties: { connection_type: 'all_to_all' },
          source_operations: { establish: operation('m.establish'), unlink: operation('') },
          target_operations: { establish: operation('') },
        },
        { type: 'bare', target_id: 'other' },
      ],
    };
    expect(graphDefinition(definition)).toEqual({
      type_hierarchy: ['cloudify.nodes.Root'],
      operations: { create: operation('m.create') },
      plugins: [{ name: 'p', package_name: 'pkg' }],
      relationships: [
        {
          type: 'r',
          target_id: 'host',
          properties: { connection_type: 'all_to_all' },
          source_operations: { establish: operation('m.establish') },
          target_operations: {},
        },
        { type: 'bare', target_id: 'other', source_operations: {}, target_operations: {} },
      ],
    });
  });
});
