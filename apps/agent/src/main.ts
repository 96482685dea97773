import { runCommand } from './run-command';
import { keepHeapSmall } from './small-heap';

const args = process.argv.slice(2);
// Not the other commands: `run-module` runs the code of plugins.
if (args[0] === 'run' || args[0] === 'supervise') keepHeapSmall();
// `ctx` and `run-module` go on after this: they are programs of their own inside this file.
void runCommand(args).then((code) => {
  if (code !== null) process.exit(code);
});
