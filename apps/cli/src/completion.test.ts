import { completionScript, shells } from './completion';
import { buildProgram } from './program';
import { quietIo } from './testing-io';

const { program, declared } = buildProgram(quietIo().io);

test.each(shells)('%s knows each command and the values of -o', (shell) => {
  const script = completionScript(program, shell);
  for (const name of new Set(declared.flatMap(({ path }) => path.split(' ')))) expect(script).toContain(name);
  expect(script).toContain('table wide json yaml name');
});

test('texts of commands are quoted', () => {
  const script = completionScript(program, 'fish');
  expect(script).toContain("'bring a blueprint'\\''s plugins, and its deployments, to newer versions'");
});
