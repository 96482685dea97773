// Data that catalog and deployments store about a blueprint: its plan, plain or folded, and the documents of a deployment.
import { parseBlueprint } from '@baton/dsl';
import {
  FOLDED_FORMAT,
  foldJson,
  isFoldedJson,
  type Json,
  type JsonObject,
  readFoldedJson,
  unfoldedJson,
} from '@baton/kernel';
import {
  modelDocument,
  nodeParts,
  type PlanNode,
} from '../../services/deployments/src/domain/deployment-plan';
import {
  DOCUMENT_FORMAT,
  documentOf,
  parseDocument,
} from '../../services/deployments/src/store/documents.sql';
import { type Kind, plain } from './kind';

const BLUEPRINT = `
tosca_definitions_version: cloudify_dsl_1_3
description: a server and its client
inputs:
  port: { type: integer, default: 8080 }
plugins:
  probe: { executor: central_deployment_agent, install: false }
interfaces_of_ours: &ours
  cloudify.interfaces.lifecycle:
    create: { implementation: probe.create, inputs: { size: { default: 2 } }, max_retries: 3 }
    start: probe.start
node_types:
  ours.Node: { properties: { port: { type: integer, default: 1 } } }
relationships:
  ours.uses: {}
node_templates:
  server:
    type: ours.Node
    properties: { port: { get_input: port } }
    capabilities: { scalable: { properties: { default_instances: 2, max_instances: 4 } } }
    interfaces: *ours
  client:
    type: ours.Node
    interfaces: *ours
    relationships:
      - { type: ours.uses, target: server }
groups:
  all: { members: [server, client] }
policies:
  together: { type: cloudify.policies.scaling, targets: [all] }
workflows:
  backup: { mapping: probe.backup, parameters: { to: { default: here } } }
outputs:
  address: { value: { get_attribute: [server, address] } }
capabilities:
  port: { value: { get_property: [server, port] } }
labels:
  kind: { values: [sample] }
`.replace('interfaces_of_ours: &ours', 'dsl_definitions: &ours');

let parsed: Promise<JsonObject> | undefined;
function plan(): Promise<JsonObject> {
  parsed ??= parseBlueprint({ text: BLUEPRINT }).then(({ plan: found, diagnostics }) => {
    if (!found) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
    return plain(found) as JsonObject;
  });
  return parsed;
}

/** Returns the kind of a plan as text, which is folded above `plainChars` characters. */
const planKind = (name: string, plainChars: number): Kind => ({
  name,
  format: FOLDED_FORMAT,
  write: async () => foldJson(await plan(), plainChars).text,
  read: (stored) => {
    const value = readFoldedJson(stored as string);
    const shown: unknown = JSON.parse(unfoldedJson(stored as string).text);
    return {
      isFolded: isFoldedJson(stored as string),
      value,
      isShownSame: JSON.stringify(shown) === JSON.stringify(value),
    };
  },
});

const documentKind = (name: string, value: (of: JsonObject) => unknown): Kind => ({
  name,
  format: DOCUMENT_FORMAT,
  // Rows refer to the document by its digest: equal bodies must have equal texts.
  write: async () => plain(documentOf(value(await plan()))),
  read: (stored) => {
    const { digest, text } = stored as { digest: string; text: string };
    return {
      body: parseDocument(digest, text) as Json,
      isNamedSame: documentOf(JSON.parse(text)).digest === digest,
    };
  },
});

export const planKinds: Kind[] = [
  planKind('plan-text', Number.MAX_SAFE_INTEGER),
  planKind('folded-plan-text', 0),
  documentKind('model-document', modelDocument),
  documentKind('node-document', (of) => nodeParts((of.nodes as PlanNode[])[0]!, 0).definition),
];
