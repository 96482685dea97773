/** Initial content of a new blueprint. */
import { type Project, projectOf } from './project';

const TEXT = `tosca_definitions_version: cloudify_dsl_1_4

description: What this blueprint is for.

imports:
  - cloudify/types/types.yaml

inputs:
  greeting:
    type: string
    default: hello

node_templates:
  server:
    type: cloudify.nodes.Root
    properties:
      resource_id: { get_input: greeting }

outputs:
  greeting:
    value: { get_input: greeting }
`;

export const newProject: Project = projectOf('blueprint.yaml', [
  { path: 'blueprint.yaml', bytes: new TextEncoder().encode(TEXT), mode: 0o644 },
]);
