import { UsageFailure } from '../failure';
import { collectValues } from '../key-values';
import { type Cli, noun, option, repeated, required } from '../layer/define';
import { callCommand, listCommand } from '../layer/resource';

const identifying = () => [
  required('--creator <text>', 'what made the dependency, such as a node and a relationship'),
  option('-s, --source <deployment>', 'deployment that depends'),
  option('--target <deployment>', 'deployment on which it depends'),
  repeated('--external-source <name=value|file>', 'place of a source in another manager'),
  repeated('--external-target <name=value|file>', 'place of a target in another manager'),
];

function identification(o: Record<string, any>) {
  return {
    dependency_creator: o.creator,
    ...(o.source === undefined ? {} : { source_deployment: o.source }),
    ...(o.target === undefined ? {} : { target_deployment: o.target }),
    ...(o.externalSource.length > 0 ? { external_source: collectValues(o.externalSource) } : {}),
    ...(o.externalTarget.length > 0 ? { external_target: collectValues(o.externalTarget) } : {}),
  };
}

/** `baton dependencies ...`: dependencies between deployments. */
export function dependencyCommands(cli: Cli): void {
  const dependencies = noun(cli, 'dependencies', {
    alias: 'dependency',
    about: 'dependencies between deployments',
    examples: [
      'dependencies list --where source_deployment_id=web',
      'dependencies replace web web-dependencies.yaml',
    ],
  });
  listCommand(cli, dependencies, {
    columns: ['id', 'source_deployment_id', 'target_deployment_id', 'dependency_creator', 'created_at'],
    wide: ['external_source', 'external_target', 'created_by', 'tenant_name'],
    operation: 'listInterDeploymentDependencies',
    about: 'list dependencies',
  });
  callCommand(cli, dependencies, {
    name: 'create',
    about: 'record a dependency',
    operation: 'createInterDeploymentDependency',
    options: identifying(),
    request: (_args, options) => ({ body: identification(options) }),
    done: (_args, answer) => `Dependency ${answer.id} recorded.`,
  });
  callCommand(cli, dependencies, {
    name: 'delete',
    about: 'delete a dependency',
    operation: 'deleteInterDeploymentDependency',
    options: identifying(),
    request: (_args, options) => ({ body: identification(options) }),
    done: () => 'Dependency deleted.',
  });
  const members = 'a YAML file with `dependencies`: a list of {dependency_creator, target_deployment, ...}';
  callCommand(cli, dependencies, {
    name: 'add <source> <file>',
    about: `record several dependencies of a deployment, from ${members}`,
    operation: 'createInterDeploymentDependencies',
    request: ([source, file]) => ({
      body: { source_deployment_id: source, inter_deployment_dependencies: membersOf(file) },
    }),
    done: ([source], answer) => `${answer.items.length} dependencies of ${source} recorded.`,
  });
  callCommand(cli, dependencies, {
    name: 'replace <source> <file>',
    about: `replace the dependencies of a deployment, from ${members}`,
    operation: 'replaceInterDeploymentDependencies',
    request: ([source, file]) => ({
      params: { id: source },
      body: { inter_deployment_dependencies: membersOf(file) },
    }),
    done: ([source], answer) => `Deployment ${source} has ${answer.items.length} dependencies now.`,
  });
}

function membersOf(file: string): any[] {
  const { dependencies } = collectValues([file]);
  if (!Array.isArray(dependencies)) throw new UsageFailure(`${file}: expected a list below "dependencies"`);
  return dependencies;
}
