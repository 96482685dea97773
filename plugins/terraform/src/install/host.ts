import { nodeType } from '@baton/plugin-sdk';
import { install, uninstall } from './install';
import { HOST_PROPERTIES, HOST_RUNTIME, type HostScope } from './schema';

/** A program for modules: one of the machine, or a download. */
export const terraformHost = nodeType({
  derivedFrom: 'cloudify.nodes.SoftwareComponent',
  description: 'The program for modules: one that the machines of the workers have, or a download',
  properties: HOST_PROPERTIES,
  runtime: HOST_RUNTIME,
  create: (scope) => install(scope as unknown as HostScope),
  delete: (scope) => uninstall(scope as unknown as HostScope),
  mappings: { create: 'tf.cloudify_tf.tasks.install', delete: 'tf.cloudify_tf.tasks.uninstall' },
  resumable: ['create', 'delete'],
});
