import { runCommand } from './run-command';

// `ctx` and `run-module` go on after this: they are programs of their own inside this file.
void runCommand(process.argv.slice(2)).then((code) => {
  if (code !== null) process.exit(code);
});
