import type { DeploymentFacts } from '../../adapters/deployments.client';
import { requireWorkflow } from './workflow-check';

const facts = { id: 'd', workflows: { install: {} } } as unknown as DeploymentFacts;

test.each(['toString', 'constructor', '__proto__', 'instal'])('%s is no workflow', (name) => {
  expect(() => requireWorkflow(name, facts)).toThrow(
    expect.objectContaining({ code: 'nonexistent_workflow_error' }),
  );
});

test.each(['install', 'create_deployment_environment'])('%s is one', (name) => {
  expect(() => requireWorkflow(name, facts)).not.toThrow();
});
