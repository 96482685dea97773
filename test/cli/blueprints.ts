// Blueprints for the tests of the command line.

/** A description with an escape sequence of a terminal. */
const HOSTILE = '\\e[2Jescape';
export const SHOP = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
description: "${HOSTILE}"
inputs:
  size: {default: 1}
node_templates:
  app: {type: cloudify.nodes.Root}
outputs:
  size: {value: {get_input: size}}
`;
/** Its install does not end by itself. */
export const SLOW = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  app:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: |
            #!/bin/bash
            sleep 600
`;
