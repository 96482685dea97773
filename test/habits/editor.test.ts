// The editor settings in the repository must name existing programs and scripts.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '..', '..');
const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));
const { scripts } = read('package.json');
const { configurations, inputs } = read('.vscode/launch.json');
const { tasks } = read('.vscode/tasks.json');

test('every launched program exists, for every service that can be picked', () => {
  const services: string[] = inputs[0].options;
  for (const { program } of configurations.filter((one: { program?: string }) => one.program)) {
    const path = program.replace(/^\$\{workspaceFolder\}/, root);
    const paths = services.map((service) => path.replace(/\$\{input:service\}/, service));
    expect(paths.filter((one) => !existsSync(one))).toEqual([]);
  }
});

test('every task runs a script of package.json or a program that exists', () => {
  for (const { command } of tasks as { command: string }[]) {
    const script = /^npm run (\S+)/.exec(command)?.[1];
    if (script) expect(Object.keys(scripts)).toContain(script);
    for (const [path] of command.matchAll(/\S+\.ts\b/g)) expect(existsSync(join(root, path))).toBe(true);
  }
});

test('what a launch runs first is a task', () => {
  const labels = tasks.map((task: { label: string }) => task.label);
  const first = configurations.map((one: { preLaunchTask?: string }) => one.preLaunchTask).filter(Boolean);
  expect(labels).toEqual(expect.arrayContaining(first));
});
